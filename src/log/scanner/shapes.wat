  ;; Lines that are written like others: a part of scanner.wat, whose functions it calls, as those of silent.wat. shapes.ts
  ;; lays out the memory of a shape.

  ;; Where the line that fits a shape goes on behind it.
  (global $rest (mut i32) (i32.const 0))
  ;; A line that says less needs no further look.
  (global $least (mut i32) (i32.const 0))

  ;; Whether the next line continues it.
  (global $isOpen (mut i32) (i32.const 0))

  ;; Its second, if a shape is one of a minute; otherwise 0.
  (global $second (mut i32) (i32.const 0))

  ;; What the words of a shape say about the text at `at`, or -1. `back` is how far before it their 16 bytes lie, `floor`
  ;; where a word may begin.
  (func $word (param $at i32) (param $shape i32) (param $back i32) (param $floor i32) (result i32)
    (local $words i32) (local $length i32) (local $text v128)
    (local.set $text (v128.load (i32.sub (local.get $at) (local.get $back))))
    (local.set $words (i32.add (local.get $shape) (i32.const 1920)))
    (loop $next
      (local.set $length (i32.load offset=32 (local.get $words)))
      (if (i32.eqz (local.get $length)) (then (return (i32.const -1))))
      (if
        (i8x16.all_true
          (i8x16.eq
            (v128.and (local.get $text) (v128.load offset=16 (local.get $words)))
            (v128.load (local.get $words))))
        (then
          (if (local.get $back)
            (then
              (if (i32.lt_s (i32.sub (local.get $at) (local.get $length)) (local.get $floor))
                (then (return (i32.const -1)))))
            (else (global.set $rest (i32.add (local.get $at) (local.get $length)))))
          (return (i32.load offset=36 (local.get $words)))))
      (local.set $words (i32.add (local.get $words) (i32.const 48)))
      (br $next))
    (unreachable))

  ;; Where quotes, backslashes and controls are among 16 bytes.
  (func $quotes (param $at i32) (result v128)
    (local $text v128)
    (local.set $text (v128.load (local.get $at)))
    (v128.or
      (i8x16.lt_u (local.get $text) (i8x16.splat (i32.const 32)))
      (v128.or
        (i8x16.eq (local.get $text) (i8x16.splat (i32.const 34)))
        (i8x16.eq (local.get $text) (i8x16.splat (i32.const 92))))))

  ;; Whether this byte follows a backslash where JSON escapes a character by a letter: `"`, `/`, `\\`, b, f, n, r, t.
  (func $isEscape (param $byte i32) (result i32)
    (i32.or
      (i32.or (i32.eq (local.get $byte) (i32.const 34)) (i32.eq (local.get $byte) (i32.const 47)))
      (i32.or
        (i32.eq (local.get $byte) (i32.const 92))
        (i32.and
          (i32.lt_u (i32.sub (local.get $byte) (i32.const 98)) (i32.const 19))
          ;; b, f, n, r and t, counted from b
          (i32.and (i32.shr_u (i32.const 0x51011) (i32.sub (local.get $byte) (i32.const 98))) (i32.const 1))))))

  ;; What a line that fits a shape says by its word, or -1 if it does not fit. A shape has steps of 48 bytes: the kind of
  ;; step, a number for it, and from 16 on how 16 bytes are: the lowest byte of each place, and how far above it is fine.
  (func $fit (param $from i32) (param $to i32) (param $shape i32) (result i32)
    (local $at i32) (local $step i32) (local $said i32) (local $count i32) (local $hits i32) (local $byte i32) (local $escape i32) (local $text v128)
    (local.set $at (local.get $from))
    (local.set $step (local.get $shape))
    (local.set $said (i32.const -1))
    (global.set $second (i32.const 0))
    (global.set $isOpen (i32.const 0))
    (block $fails
      (loop $next
        (block $seconds (block $silent (block $text (block $inner (block $follows
        (block $object (block $severity (block $word (block $string (block $until (block $digits (block $bytes (block $end
          (br_table $end $bytes $digits $until $string $word $severity $object $follows $inner $text $silent $seconds
            (i32.load (local.get $step))))
          ;; end
          (br_if $fails (i32.gt_s (local.get $at) (local.get $to)))
          (global.set $rest (local.get $at))
          (global.set $isOpen (i32.load offset=4 (local.get $step)))
          (return (local.get $said)))
          ;; bytes, of which the number says how many
          (br_if $fails
            (i32.eqz
              (i8x16.all_true
                (i8x16.le_u
                  (i8x16.sub (v128.load (local.get $at)) (v128.load offset=16 (local.get $step)))
                  (v128.load offset=32 (local.get $step))))))
          (local.set $at (i32.add (local.get $at) (i32.load offset=4 (local.get $step))))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; one to twenty digits
          (local.set $count (i32.const 0))
          (block $ends
            (loop $digit
              (br_if $ends
                (i32.gt_u
                  (i32.sub (i32.load8_u (i32.add (local.get $at) (local.get $count))) (i32.const 48))
                  (i32.const 9)))
              (local.set $count (i32.add (local.get $count) (i32.const 1)))
              (br_if $digit (i32.le_s (local.get $count) (i32.const 20)))
              (br $fails)))
          (br_if $fails (i32.eqz (local.get $count)))
          (local.set $at (i32.add (local.get $at) (local.get $count)))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; up to the byte in the number, 64 bytes at most, without blanks, quotes, backslashes and brackets before it
          (local.set $count (i32.add (local.get $at) (i32.const 64)))
          (block $ends
            (loop $search
              (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
              (local.set $text (v128.load (local.get $at)))
              (local.set $hits
                (i8x16.bitmask
                  (v128.or
                    (v128.or
                      (i8x16.le_u (local.get $text) (i8x16.splat (i32.const 32)))
                      (i8x16.eq (local.get $text) (i8x16.splat (i32.const 34))))
                    (v128.or
                      (i8x16.eq (local.get $text) (i8x16.splat (i32.const 92)))
                      (i8x16.eq (local.get $text) (i8x16.splat (i32.const 91)))))))
              (br_if $ends (local.get $hits))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br $search)))
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $hits))))
          (br_if $fails (i32.gt_s (local.get $at) (local.get $count)))
          (br_if $fails (i32.ne (i32.load8_u (local.get $at)) (i32.load offset=4 (local.get $step))))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; a string up to and with its quote; with a number, it holds no controls and no escapes by number, and its end is an
          ;; escaped line break (1), behind a brace (2)
          (local.set $escape (i32.const 0))
          (block $ends
            (loop $search
              (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
              (local.set $text (call $quotes (local.get $at)))
              (if (i32.eqz (v128.any_true (local.get $text)))
                (then
                  (local.set $at (i32.add (local.get $at) (i32.const 16)))
                  (br $search)))
              (local.set $at (i32.add (local.get $at) (i32.ctz (i8x16.bitmask (local.get $text)))))
              (local.set $byte (i32.load8_u (local.get $at)))
              (br_if $ends (i32.eq (local.get $byte) (i32.const 34)))
              (if (i32.eq (local.get $byte) (i32.const 92))
                (then
                  (local.set $byte (i32.load8_u offset=1 (local.get $at)))
                  (br_if $fails
                    (select
                      (i32.eqz (call $isEscape (local.get $byte)))
                      (i32.lt_u (local.get $byte) (i32.const 32))
                      (i32.load offset=4 (local.get $step))))
                  (local.set $at (i32.add (local.get $at) (i32.const 2)))
                  (local.set $escape (local.get $at)))
                (else
                  (br_if $fails
                    (i32.or
                      (i32.eq (local.get $byte) (i32.const 10))
                      (i32.ne (i32.load offset=4 (local.get $step)) (i32.const 0))))
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))))
              (br $search)))
          (if (i32.load offset=4 (local.get $step))
            (then
              (br_if $fails (i32.ne (local.get $escape) (local.get $at)))
              (br_if $fails (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 110)))))
          (if (i32.gt_s (i32.load offset=4 (local.get $step)) (i32.const 1))
            (then
              (br_if $fails (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 3))) (i32.const 125)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; one of the words; with a number, a line that says less than is searched for needs no other steps
          (local.set $said (call $word (local.get $at) (local.get $shape) (i32.const 0) (i32.const 0)))
          (br_if $fails (i32.lt_s (local.get $said) (i32.const 0)))
          (local.set $at (global.get $rest))
          (if
            (i32.and
              (i32.load offset=4 (local.get $step))
              (i32.lt_s (local.get $said) (global.get $least)))
            (then
              (br_if $fails (i32.gt_s (local.get $at) (local.get $to)))
              (return (local.get $said))))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; one of the words before the first colon and two blanks, of which the number says how far they may be away
          (local.set $count (local.get $at))
          (local.set $at (i32.sub (local.get $at) (i32.const 2)))
          (block $ends
            (loop $search
              (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
              (local.set $text (v128.load (local.get $at)))
              (local.set $text
                (v128.or
                  (v128.or
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 10)))
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 92))))
                  (v128.and
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 58)))
                    (v128.and
                      (i8x16.eq (v128.load offset=1 (local.get $at)) (i8x16.splat (i32.const 32)))
                      (i8x16.eq (v128.load offset=2 (local.get $at)) (i8x16.splat (i32.const 32)))))))
              (br_if $ends (v128.any_true (local.get $text)))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br $search)))
          (local.set $at (i32.add (local.get $at) (i32.ctz (i8x16.bitmask (local.get $text)))))
          (br_if $fails (i32.ne (i32.load8_u (local.get $at)) (i32.const 58)))
          (br_if $fails
            (i32.ge_s
              (i32.add (local.get $at) (i32.const 2))
              (i32.add (local.get $from) (i32.load offset=4 (local.get $step)))))
          (local.set $said
            (call $word (local.get $at) (local.get $shape) (i32.const 16) (local.get $count)))
          (br_if $fails (i32.lt_s (local.get $said) (i32.const 0)))
          (local.set $at (i32.add (local.get $at) (i32.const 3)))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
        ;; a line that ends in a brace
        (br_if $fails (i32.gt_s (local.get $at) (local.get $to)))
        (local.set $at (call $lineEnd (local.get $at) (local.get $to)))
        (local.set $at
          (i32.sub (local.get $at)
            (i32.eq (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 10))))
        (br_if $fails (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 125)))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next))
        ;; the byte in the number, which is left to the next step
        (br_if $fails (i32.ne (i32.load8_u (local.get $at)) (i32.load offset=4 (local.get $step))))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next))
        ;; a string whose quotes and backslashes are escaped, because it is in another one
        (block $ends
          (loop $search
            (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
            (local.set $text (call $quotes (local.get $at)))
            (if (i32.eqz (v128.any_true (local.get $text)))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $search)))
            (local.set $at (i32.add (local.get $at) (i32.ctz (i8x16.bitmask (local.get $text)))))
            (br_if $fails (i32.ne (i32.load8_u (local.get $at)) (i32.const 92)))
            (local.set $byte (i32.load8_u offset=1 (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 2)))
            (br_if $ends (i32.eq (local.get $byte) (i32.const 34)))
            (br_if $fails (i32.ne (local.get $byte) (i32.const 92)))
            ;; an escaped backslash: what follows it is escaped inside, too
            (local.set $byte (i32.load8_u (local.get $at)))
            (if (i32.eq (local.get $byte) (i32.const 92))
              (then
                (local.set $byte (i32.load8_u offset=1 (local.get $at)))
                (br_if $fails
                  (i32.and
                    (i32.ne (local.get $byte) (i32.const 92))
                    (i32.ne (local.get $byte) (i32.const 34))))
                (local.set $at (i32.add (local.get $at) (i32.const 2))))
              (else
                (br_if $fails
                  (i32.or
                    (i32.lt_u (local.get $byte) (i32.const 32))
                    (i32.eq (local.get $byte) (i32.const 34))))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))))
            (br $search)))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next))
        ;; text up to the byte in the number, without controls, backslashes and what is not ASCII before it
        (block $ends
          (loop $search
            (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
            (local.set $text (v128.load (local.get $at)))
            (local.set $hits
              (i8x16.bitmask
                (v128.or
                  (i8x16.lt_s (local.get $text) (i8x16.splat (i32.const 32)))
                  (v128.or
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 92)))
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.load offset=4 (local.get $step))))))))
            (br_if $ends (local.get $hits))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $search)))
        (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $hits))))
        (br_if $fails (i32.ne (i32.load8_u (local.get $at)) (i32.load offset=4 (local.get $step))))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next))
        ;; the rest of a line, in which no word may be a level
        (local.set $at (call $silentEnd (local.get $at) (local.get $to)))
        (br_if $fails (i32.lt_s (local.get $at) (i32.const 0)))
        (local.set $said (i32.const 1))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next))
        ;; two digits of a second
        (local.set $byte (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
        (local.set $count (i32.sub (i32.load8_u offset=1 (local.get $at)) (i32.const 48)))
        (br_if $fails
          (i32.or (i32.gt_u (local.get $byte) (i32.const 5)) (i32.gt_u (local.get $count) (i32.const 9))))
        (global.set $second (i32.add (i32.mul (local.get $byte) (i32.const 10)) (local.get $count)))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next)))
    (i32.const -1))

  ;; Counts the lines of [from, to) by what their shape's word says, and stops at the first one that fits none of the
  ;; shapes or continues the one before: gives where that line starts. A record that says `least` or more is not counted,
  ;; but written at the place that `state` names: its start, the end of its first line, its end, its level. `state` gets the
  ;; shape of the last record that was counted and its second, what the last record says, and where the next one goes.
  (func (export "shaped")
    (param $from i32) (param $to i32) (param $shapes i32) (param $shapesEnd i32) (param $least i32) (param $state i32)
    (result i32)
    (local $shape i32) (local $said i32) (local $count i32) (local $out i32) (local $wanted i32)
    (local.set $out (i32.load offset=12 (local.get $state)))
    (block $done
      (loop $line
        (br_if $done (i32.ge_s (local.get $from) (local.get $to)))
        ;; Only a line that fits as a whole ends a record that was found.
        (global.set $least (select (i32.const 0) (local.get $least) (local.get $wanted)))
        (local.set $shape (local.get $shapes))
        (block $fits
          (loop $next
            (br_if $done (i32.ge_s (local.get $shape) (local.get $shapesEnd)))
            (local.set $said (call $fit (local.get $from) (local.get $to) (local.get $shape)))
            (br_if $fits (i32.ge_s (local.get $said) (i32.const 0)))
            (local.set $shape (i32.add (local.get $shape) (i32.const 5136)))
            (br $next)))
        (if (local.get $said)
          (then
            (i32.store offset=4 (local.get $state) (local.get $said))
            (if (local.get $wanted)
              (then
                (i32.store offset=8 (local.get $wanted) (local.get $from))
                (local.set $wanted (i32.const 0))))))
        (if (i32.ge_s (local.get $said) (local.get $least))
          (then
            (local.set $wanted (local.get $out))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))
            (i32.store (local.get $wanted) (local.get $from))
            (i32.store offset=12 (local.get $wanted) (local.get $said))
            (local.set $from (call $lineEnd (global.get $rest) (local.get $to)))
            (i32.store offset=4 (local.get $wanted) (local.get $from)))
          (else
            (local.set $count
              (i32.add
                (i32.add (local.get $shape) (i32.const 3216))
                (i32.add (i32.shl (global.get $second) (i32.const 5)) (i32.shl (local.get $said) (i32.const 2)))))
            (i32.store (local.get $count) (i32.add (i32.load (local.get $count)) (i32.const 1)))
            (if (local.get $said)
              (then
                (i32.store (local.get $state) (local.get $shape))
                (i32.store offset=8 (local.get $state) (global.get $second))))
            (local.set $from (call $lineEnd (global.get $rest) (local.get $to)))))
        (br_if $line (i32.eqz (global.get $isOpen)))))
    (if (local.get $wanted)
      (then (i32.store offset=8 (local.get $wanted) (local.get $from))))
    (i32.store offset=12 (local.get $state) (local.get $out))
    (local.get $from))
