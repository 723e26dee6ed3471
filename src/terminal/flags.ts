/** One flag of a command. */
export interface Flag {
  name: string
  /** A single letter. */
  short?: string
  /** The name of its value in the help. Without one it is a switch. */
  value?: string
  /** May be given several times. */
  list?: boolean
  help: string
  /** The only values it takes; an optional value such as `--color` has the first as its default. */
  choices?: readonly string[]
  optional?: boolean
}

/** A parsed command line. */
export interface Given {
  positional: string[]
  flags: Map<string, string[]>
}

/** A command line that cannot be understood. The message says what to do. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Parses a command line: flags anywhere, `--flag=value`, `-n 50`, `-n50`, `-fn 50`, and `--` before odd names. */
export function readArguments(flags: readonly Flag[], argv: readonly string[]): Given {
  const given: Given = { positional: [], flags: new Map() }
  const rest = [...argv]
  while (rest.length > 0) {
    const argument = rest.shift()!
    if (argument === '--') {
      given.positional.push(...rest)
      break
    }
    if (argument.startsWith('--')) readLong(flags, argument, rest, given)
    else if (argument.startsWith('-') && argument.length > 1) readShort(flags, argument, rest, given)
    else given.positional.push(argument)
  }
  return given
}

function readLong(flags: readonly Flag[], argument: string, rest: string[], given: Given): void {
  const equals = argument.indexOf('=')
  const name = equals < 0 ? argument.slice(2) : argument.slice(2, equals)
  const flag = flags.find((each) => each.name === name)
  if (!flag) throw unknown(`--${name}`)
  const inline = equals < 0 ? null : argument.slice(equals + 1)
  if (flag.value === undefined) {
    if (inline !== null) throw new UsageError(`--${name} takes no value.`)
    set(given, flag, 'true')
  } else if (flag.optional && inline === null) set(given, flag, flag.choices![0]!)
  else set(given, flag, inline ?? nextValue(flag, rest))
}

function readShort(flags: readonly Flag[], argument: string, rest: string[], given: Given): void {
  for (let i = 1; i < argument.length; i++) {
    const flag = flags.find((each) => each.short === argument[i])
    if (!flag) throw unknown(`-${argument[i]}`)
    if (flag.value === undefined) {
      set(given, flag, 'true')
      continue
    }
    set(given, flag, argument.slice(i + 1) || nextValue(flag, rest))
    return
  }
}

function nextValue(flag: Flag, rest: string[]): string {
  const value = rest.shift()
  if (value === undefined || value === '')
    throw new UsageError(`--${flag.name} needs a value: ${flag.value}.`)
  return value
}

function set(given: Given, flag: Flag, value: string): void {
  if (flag.choices && !flag.choices.includes(value))
    throw new UsageError(`--${flag.name} is "${value}"; it must be ${flag.choices.join(', ')}.`)
  const before = given.flags.get(flag.name)
  if (before && !flag.list && flag.value !== undefined)
    throw new UsageError(`--${flag.name} was given twice.`)
  given.flags.set(flag.name, [...(before ?? []), value])
}

function unknown(flag: string): UsageError {
  if (flag === '--token')
    return new UsageError(
      'A token is never an argument, because other users can see it: set NODESTATE_TOKEN or use --token-file.',
    )
  return new UsageError(`There is no flag ${flag}.`)
}
