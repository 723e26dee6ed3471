import type { RefObject } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { hand } from '../ui/store.ts'
import { queryKey } from '../url.ts'
import type { Goal } from './reader/places.ts'
import { Reader, type ReaderOptions } from './reader/reader.ts'

interface Options extends Omit<ReaderOptions, 'changed'> {
  /** Changes when the reader should try again. */
  attempt: number
}

/** A reader for what the look asks for: a new one with every question, told when only the display changes. */
export function useReader(box: RefObject<HTMLElement | null>, options: Options) {
  const { client, look, attempt } = options
  const reader = useRef<Reader | null>(null)
  const goal = useRef<Goal | null | undefined>(undefined)
  // A record that another view handed over.
  useState(() => {
    const handed = hand.take('goal')
    if (handed !== null) goal.current = JSON.parse(handed) as Goal
  })
  const current = useRef(options)
  current.current = options
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const key = queryKey(look)

  useEffect(() => {
    let pending = 0
    const made = new Reader(box.current!, {
      ...current.current,
      changed() {
        cancelAnimationFrame(pending)
        pending = requestAnimationFrame(() => redraw(0))
      },
      moved: (place) => current.current.moved(place),
      say: (message) => current.current.say(message),
    })
    reader.current = made
    const wanted = goal.current
    goal.current = undefined
    void made.start(wanted)
    return () => {
      cancelAnimationFrame(pending)
      made.close()
      reader.current = null
    }
  }, [client, key, attempt])

  useEffect(() => reader.current?.display.set(options))
  const marks = JSON.stringify(look.marks)
  useEffect(() => void reader.current?.highlight(current.current.look.marks), [marks])

  return { reader, goal }
}
