import { wordOf } from './words.ts'

/** PostgreSQL's severities, in English and as `lc_messages` translates them (de, fr, it, ka, ko, ru, sv, uk, zh_CN). */
const WORDS: readonly [level: number, words: string][] = [
  [0, 'DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5 გამართვა 디버그 ОТЛАДКА НАЛАГОДЖЕННЯ 调试'],
  [1, 'INFO ინფორმაცია 정보 ИНФОРМАЦИЯ ІНФОРМАЦІЯ 信息'],
  [1, 'NOTICE HINWEIS NOTIFICA 알림 ЗАМЕЧАНИЕ NOTIS ПОВІДОМЛЕННЯ 注意'],
  [1, 'LOG ჟურნალი 로그 СООБЩЕНИЕ LOGG ЗАПИСУВАННЯ 日志'],
  [2, 'WARNING WARNUNG ATTENTION ATTENZIONE გაფრთხილება 경고 ПРЕДУПРЕЖДЕНИЕ VARNING ПОПЕРЕДЖЕННЯ 警告'],
  [3, 'ERROR FEHLER ERREUR ERRORE შეცდომა 오류 ОШИБКА FEL ПОМИЛКА 错误'],
  [4, 'FATAL FATALE ფატალური 치명적오류 ВАЖНО FATALT ФАТАЛЬНО 致命错误'],
  [4, 'PANIC PANIK PANICO პანიკა 손상 ПАНИКА ПАНІКА 比致命错误还过分的错误'],
]

/** What belongs to the record before it, in the same languages, es and ja. A last word of several is enough. */
export const CONTINUATIONS: readonly string[] = [
  'DETAIL DETALLE DÉTAIL DETTAGLI 詳細 დეტალები 상세정보 ПОДРОБНОСТИ DETALJ ВІДОМОСТІ 详细信息',
  'HINT TIPP ASTUCE SUGGERIMENTO ヒント მინიშნება 힌트 ПОДСКАЗКА TIPS УКАЗІВКА 提示',
  'QUERY ANFRAGE CONSULTA REQUÊTE 問い合わせ მოთხოვნა 쿼리 ЗАПРОС FRÅGA ЗАПИТ 查询',
  'CONTEXT ZUSAMMENHANG CONTEXTO CONTEXTE CONTESTO 文脈 კონტექსტი 내용 КОНТЕКСТ KONTEXT 上下文',
  'STATEMENT ANWEISUNG SENTENCIA INSTRUCTION ISTRUZIONE 文 ოპერატორი 구문 ОПЕРАТОР SATS ІНСТРУКЦІЯ 语句',
  'LOCATION BACKTRACE バックトレース სტეკი 역추적 СТЕК ВІДСТЕЖУВАТИ',
].flatMap((words) => words.split(' '))

/** The longest of them in bytes. */
export const LONGEST_SEVERITY = 40

/** By the bytes of each word, a character per byte: lines are searched as bytes. */
const LEVELS = new Map<string, number>()
const bytesOf = (word: string) => String.fromCharCode(...new TextEncoder().encode(word))
for (const [level, words] of WORDS) for (const word of words.split(' ')) LEVELS.set(bytesOf(word), level)
for (const word of CONTINUATIONS) LEVELS.set(bytesOf(word), -1)

/** The severities of this level or a higher one, a character per byte; null if most records have one. */
export function severityMarks(level: number): string[] | null {
  return level < 2 ? null : [...LEVELS.keys()].filter((word) => LEVELS.get(word)! >= level)
}

/** The level of the severity in bytes[from, to); -1 if it continues a record, undefined if it is none. */
export function severityIn(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to <= from || to - from > LONGEST_SEVERITY) return undefined
  return LEVELS.get(wordOf(bytes, from, to))
}
