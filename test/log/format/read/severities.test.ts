import { describe, expect, it } from 'vitest'
import { detectFormat, LEVELS } from '../../../../src/log/format/detect.ts'
import { UTC } from '../../../../src/log/time.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** The words of PostgreSQL 15 by `lc_messages`: LOG, WARNING, ERROR, FATAL, PANIC, DETAIL, HINT, CONTEXT, STATEMENT. */
const LANGUAGES: readonly [language: string, words: string][] = [
  ['en', 'LOG WARNING ERROR FATAL PANIC DETAIL HINT CONTEXT STATEMENT'],
  ['de', 'LOG WARNUNG FEHLER FATAL PANIK DETAIL TIPP ZUSAMMENHANG ANWEISUNG'],
  ['es', 'LOG WARNING ERROR FATAL PANIC DETALLE HINT CONTEXTO SENTENCIA'],
  ['fr', 'LOG ATTENTION ERREUR FATAL PANIC DÉTAIL ASTUCE_ CONTEXTE_ INSTRUCTION_'],
  ['it', 'LOG ATTENZIONE ERRORE FATALE PANICO DETTAGLI SUGGERIMENTO CONTESTO ISTRUZIONE'],
  ['ja', 'LOG WARNING ERROR FATAL PANIC 詳細 ヒント 文脈 文'],
  ['ka', 'ჟურნალი გაფრთხილება შეცდომა ფატალური პანიკა დეტალები მინიშნება კონტექსტი ოპერატორი'],
  ['ko', '로그 경고 오류 치명적오류 손상 상세정보 힌트 내용 명령_구문'],
  ['ru', 'СООБЩЕНИЕ ПРЕДУПРЕЖДЕНИЕ ОШИБКА ВАЖНО ПАНИКА ПОДРОБНОСТИ ПОДСКАЗКА КОНТЕКСТ ОПЕРАТОР'],
  ['sv', 'LOGG VARNING FEL FATALT PANIK DETALJ TIPS KONTEXT SATS'],
  ['uk', 'ЗАПИСУВАННЯ ПОПЕРЕДЖЕННЯ ПОМИЛКА ФАТАЛЬНО ПАНІКА ВІДОМОСТІ УКАЗІВКА КОНТЕКСТ ІНСТРУКЦІЯ'],
  ['zh_CN', '日志 警告 错误 致命错误 比致命错误还过分的错误 详细信息 提示 上下文 语句'],
]
const EXPECTED = ['info', 'warn', 'error', 'fatal', 'fatal']

describe.each(LANGUAGES)('PostgreSQL in %s', (_, list) => {
  const words = list.split(' ').map((word) => word.replaceAll('_', ' '))
  const [severities, continuations] = [words.slice(0, 5), words.slice(5)]

  it('has its levels, and what belongs to them', () => {
    const head = '2026-11-15 02:10:00.123 UTC [7] a@b '
    const record = (word: string) =>
      [`${word}:  no`, ...continuations.map((more) => `${more}:  of that`)].map((line) => `${head}${line}\n`)
    const format = detectFormat(bytes(severities.flatMap(record).join('')))
    expect(format.name).toBe('postgresql')
    severities.forEach((word, i) => {
      const [first, ...more] = record(word).map(bytes)
      expect([word, LEVELS[format.level(first!, 0, first!.length - 1)]]).toEqual([word, EXPECTED[i]])
      for (const line of more) expect(format.starts(line, 0, line.length - 1)).toBe(false)
      expect(format.fields(record(word).join(''), UTC)).toEqual({
        time: '2026-11-15T02:10:00.123Z',
        level: EXPECTED[i],
        message: ['no', ...continuations.map((more) => `${more.split(' ').at(more.endsWith(' ') ? -2 : -1)}`)]
          .map((text, i) => (i === 0 ? text : `${text}${words[4 + i]!.endsWith(' ') ? ' ' : ''}:  of that`))
          .join('\n'),
        context: { pid: 7, user: 'a', db: 'b' },
      })
    })
  })

  it('has its levels as CSV and JSON', () => {
    const csv = (word: string) =>
      `2026-11-15 02:10:00.123 UTC,"a","b",1,"[local]",6a.2b,1,"SELECT",2026-11-15 02:10:00 UTC,3/4,0,${word},22012,"no",,,,,,,,,"","client backend",,0\n`
    const json = (word: string) =>
      `{"timestamp":"2026-11-15 02:10:00.123 UTC","pid":7,"error_severity":"${word}","message":"no"}\n`
    for (const write of [csv, json]) {
      const format = detectFormat(bytes(severities.map(write).join('')))
      const levels = severities.map((word) => {
        const line = bytes(write(word))
        return [LEVELS[format.level(line, 0, line.length - 1)], format.fields(write(word), UTC).level]
      })
      expect(levels).toEqual(EXPECTED.map((level) => [level, level]))
    }
  })
})
