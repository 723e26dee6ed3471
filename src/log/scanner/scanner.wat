;; The inner loops of a search, 16 bytes at a time. `npm run wasm` turns this into scanner-code.ts.
;;
;; Memory: the needle from 0 on; from 4096 on what is set in a byte before it is compared (0x20 makes a letter small);
;; from 8192 on the head of a record in three rows of 32 bytes: which byte is there, where any digit is (255), where
;; anything is (255); from 8288 on the tables of marks (marks.ts). Then what scanner.ts lays out: shapes of lines
;; (shapes.ts) and chunks. Reads go up to 64 bytes beyond what is looked at, on either side.
(module
  (import "scanner" "memory" (memory 1 65536))

  ;; Whether the needle lies at `at`.
  (func $isAt (param $at i32) (param $length i32) (result i32)
    (local $i i32) (local $left i32) (local $same i32)
    (loop $next
      (local.set $same
        (i8x16.bitmask
          (i8x16.eq
            (v128.or
              (v128.load (i32.add (local.get $at) (local.get $i)))
              (v128.load offset=4096 (local.get $i)))
            (v128.load (local.get $i)))))
      (local.set $left (i32.sub (local.get $length) (local.get $i)))
      ;; Behind the needle anything goes.
      (if (i32.lt_s (local.get $left) (i32.const 16))
        (then
          (local.set $same
            (i32.and
              (i32.or (local.get $same) (i32.shl (i32.const 0xffff) (local.get $left)))
              (i32.const 0xffff)))))
      (if (i32.ne (local.get $same) (i32.const 0xffff)) (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_s (local.get $i) (local.get $length))))
    (i32.const 1))

  ;; Where the line that holds `at` starts, not before `floor`.
  (func $lineStart (param $at i32) (param $floor i32) (result i32)
    (local $breaks v128)
    (loop $next
      (if (i32.le_s (local.get $at) (local.get $floor)) (then (return (local.get $floor))))
      (local.set $at (i32.sub (local.get $at) (i32.const 16)))
      (local.set $breaks (i8x16.eq (v128.load (local.get $at)) (i8x16.splat (i32.const 10))))
      (br_if $next (i32.eqz (v128.any_true (local.get $breaks)))))
    (local.set $at
      (i32.add (local.get $at) (i32.sub (i32.const 32) (i32.clz (i8x16.bitmask (local.get $breaks))))))
    (select (local.get $at) (local.get $floor) (i32.gt_s (local.get $at) (local.get $floor))))

  ;; Where the line that holds `at` ends, behind its line break, not after `to`.
  (func $lineEnd (param $at i32) (param $to i32) (result i32)
    (local $breaks v128)
    (loop $next
      (if (i32.ge_s (local.get $at) (local.get $to)) (then (return (local.get $to))))
      (local.set $breaks (i8x16.eq (v128.load (local.get $at)) (i8x16.splat (i32.const 10))))
      (if (i32.eqz (v128.any_true (local.get $breaks)))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (local.set $at
      (i32.add (local.get $at) (i32.add (i32.ctz (i8x16.bitmask (local.get $breaks))) (i32.const 1))))
    (select (local.get $at) (local.get $to) (i32.lt_s (local.get $at) (local.get $to))))

  ;; Whether 16 bytes at `at` are as the head asks for, from `row` on.
  (func $isHead (param $at i32) (param $row i32) (result i32)
    (local $bytes v128)
    (local.set $bytes (v128.load (local.get $at)))
    (i8x16.all_true
      (v128.or
        (v128.bitselect
          (i8x16.lt_u
            (i8x16.sub (local.get $bytes) (i8x16.splat (i32.const 48)))
            (i8x16.splat (i32.const 10)))
          (i8x16.eq (local.get $bytes) (v128.load (local.get $row)))
          (v128.load offset=32 (local.get $row)))
        (v128.load offset=64 (local.get $row)))))

  ;; Whether a record surely starts at `at`; `length` is that of the head, above 32 when there is none.
  (func $isStart (param $at i32) (param $to i32) (param $length i32) (result i32)
    (if (i32.gt_s (i32.add (local.get $at) (local.get $length)) (local.get $to)) (then (return (i32.const 0))))
    (if (i32.gt_s (local.get $length) (i32.const 32)) (then (return (i32.const 0))))
    (if (i32.eqz (call $isHead (local.get $at) (i32.const 8192))) (then (return (i32.const 0))))
    (call $isHead (i32.add (local.get $at) (i32.const 16)) (i32.const 8208)))

  ;; Writes start and end of each line of [from, to) that holds the needle to `pairs`, counted from `base`; gives the
  ;; end of what was written. A start is inverted, and so below zero, when it is not sure that the line is a record of
  ;; its own. Only where both the first and the last byte of the needle fit, all are compared.
  (func (export "lines")
    (param $from i32) (param $to i32) (param $length i32) (param $head i32) (param $base i32) (param $pairs i32)
    (result i32)
    (local $at i32) (local $start i32) (local $end i32) (local $sure i32) (local $last i32) (local $back i32) (local $hit i32) (local $hits i32)
    (local $first v128) (local $firstFold v128) (local $final v128) (local $finalFold v128) (local $both v128)
    (local.set $back (i32.sub (local.get $length) (i32.const 1)))
    (local.set $first (v128.load8_splat (i32.const 0)))
    (local.set $firstFold (v128.load8_splat offset=4096 (i32.const 0)))
    (local.set $final (v128.load8_splat (local.get $back)))
    (local.set $finalFold (v128.load8_splat offset=4096 (local.get $back)))
    (local.set $last (i32.sub (local.get $to) (local.get $length)))
    (local.set $at (local.get $from))
    (block $done
      (loop $block
        (br_if $done (i32.gt_s (local.get $at) (local.get $last)))
        (local.set $both
          (v128.and
            (i8x16.eq
              (v128.or (v128.load (local.get $at)) (local.get $firstFold))
              (local.get $first))
            (i8x16.eq
              (v128.or (v128.load (i32.add (local.get $at) (local.get $back))) (local.get $finalFold))
              (local.get $final))))
        (if (v128.any_true (local.get $both))
          (then
            (local.set $hits (i8x16.bitmask (local.get $both)))
            (loop $candidate
              (local.set $hit (i32.add (local.get $at) (i32.ctz (local.get $hits))))
              (br_if $done (i32.gt_s (local.get $hit) (local.get $last)))
              (if (call $isAt (local.get $hit) (local.get $length))
                (then
                  (local.set $start (call $lineStart (local.get $hit) (local.get $from)))
                  (local.set $end
                    (call $lineEnd (i32.add (local.get $hit) (local.get $length)) (local.get $to)))
                  ;; What follows the line before needs no look: if a record starts there, that was seen then.
                  (local.set $sure
                    (i32.and
                      (if (result i32) (i32.eq (local.get $start) (local.get $from))
                        (then (i32.const 1))
                        (else (call $isStart (local.get $start) (local.get $to) (local.get $head))))
                      (if (result i32) (i32.eq (local.get $end) (local.get $to))
                        (then (i32.const 1))
                        (else (call $isStart (local.get $end) (local.get $to) (local.get $head))))))
                  (i32.store (local.get $pairs)
                    (i32.xor
                      (i32.sub (local.get $start) (local.get $base))
                      (i32.sub (local.get $sure) (i32.const 1))))
                  (i32.store offset=4 (local.get $pairs) (i32.sub (local.get $end) (local.get $base)))
                  (local.set $pairs (i32.add (local.get $pairs) (i32.const 8)))
                  (local.set $from (local.get $end))
                  (local.set $at (local.get $end))
                  (br $block)))
              (local.set $hits (i32.and (local.get $hits) (i32.sub (local.get $hits) (i32.const 1))))
              (br_if $candidate (local.get $hits)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $block)))
    (local.get $pairs))

  ;; Writes each place of [from, to) where one of the marks may be, counted from `base`, to `out`; gives the end of what
  ;; was written. A mark shows itself by four bytes in a row: two tables per byte, by its halves, have a bit for each of
  ;; eight groups of marks (Teddy, as in Hyperscan).
  (func (export "marks") (param $from i32) (param $to i32) (param $base i32) (param $out i32) (result i32)
    (local $at i32) (local $hit i32) (local $hits i32)
    (local $low0 v128) (local $high0 v128) (local $low1 v128) (local $high1 v128) (local $low2 v128) (local $high2 v128) (local $low3 v128) (local $high3 v128)
    (local $half v128) (local $bytes v128) (local $found v128)
    (local.set $low0 (v128.load offset=8288 (i32.const 0)))
    (local.set $high0 (v128.load offset=8304 (i32.const 0)))
    (local.set $low1 (v128.load offset=8320 (i32.const 0)))
    (local.set $high1 (v128.load offset=8336 (i32.const 0)))
    (local.set $low2 (v128.load offset=8352 (i32.const 0)))
    (local.set $high2 (v128.load offset=8368 (i32.const 0)))
    (local.set $low3 (v128.load offset=8384 (i32.const 0)))
    (local.set $high3 (v128.load offset=8400 (i32.const 0)))
    (local.set $half (i8x16.splat (i32.const 15)))
    (local.set $at (local.get $from))
    (block $done
      (loop $block
        (br_if $done (i32.ge_s (local.get $at) (local.get $to)))
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $found
            (v128.and
              (i8x16.swizzle (local.get $low0) (v128.and (local.get $bytes) (local.get $half)))
              (i8x16.swizzle (local.get $high0) (i8x16.shr_u (local.get $bytes) (i32.const 4)))))
        (local.set $bytes (v128.load offset=1 (local.get $at)))
        (local.set $found
          (v128.and (local.get $found)
            (v128.and
              (i8x16.swizzle (local.get $low1) (v128.and (local.get $bytes) (local.get $half)))
              (i8x16.swizzle (local.get $high1) (i8x16.shr_u (local.get $bytes) (i32.const 4))))))
        (local.set $bytes (v128.load offset=2 (local.get $at)))
        (local.set $found
          (v128.and (local.get $found)
            (v128.and
              (i8x16.swizzle (local.get $low2) (v128.and (local.get $bytes) (local.get $half)))
              (i8x16.swizzle (local.get $high2) (i8x16.shr_u (local.get $bytes) (i32.const 4))))))
        (local.set $bytes (v128.load offset=3 (local.get $at)))
        (local.set $found
          (v128.and (local.get $found)
            (v128.and
              (i8x16.swizzle (local.get $low3) (v128.and (local.get $bytes) (local.get $half)))
              (i8x16.swizzle (local.get $high3) (i8x16.shr_u (local.get $bytes) (i32.const 4))))))
        (if (v128.any_true (local.get $found))
          (then
            (local.set $hits (i8x16.bitmask (i8x16.ne (local.get $found) (v128.const i64x2 0 0))))
            (loop $candidate
              (local.set $hit (i32.add (local.get $at) (i32.ctz (local.get $hits))))
              (br_if $done (i32.ge_s (local.get $hit) (local.get $to)))
              (i32.store (local.get $out) (i32.sub (local.get $hit) (local.get $base)))
              (local.set $out (i32.add (local.get $out) (i32.const 4)))
              (local.set $hits (i32.and (local.get $hits) (i32.sub (local.get $hits) (i32.const 1))))
              (br_if $candidate (local.get $hits)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $block)))
    (local.get $out))

  ;; Where the line that holds `at` ends, as above, for lines of which most are longer than 64 bytes.
  (func $longLineEnd (param $at i32) (param $to i32) (result i32)
    (local $break v128)
    (local.set $break (i8x16.splat (i32.const 10)))
    (block $near
      (loop $next
        (br_if $near (i32.gt_s (i32.add (local.get $at) (i32.const 64)) (local.get $to)))
        (br_if $near
          (v128.any_true
            (v128.or
              (v128.or
                (i8x16.eq (v128.load (local.get $at)) (local.get $break))
                (i8x16.eq (v128.load offset=16 (local.get $at)) (local.get $break)))
              (v128.or
                (i8x16.eq (v128.load offset=32 (local.get $at)) (local.get $break))
                (i8x16.eq (v128.load offset=48 (local.get $at)) (local.get $break))))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next)))
    (call $lineEnd (local.get $at) (local.get $to)))

  ;; Where the line that fits a shape goes on behind it.
  (global $rest (mut i32) (i32.const 0))

  ;; What the words of a shape say about the text at `at`, or -1. `back` is how far before it their 16 bytes lie, `floor`
  ;; where a word may begin.
  (func $word (param $at i32) (param $shape i32) (param $back i32) (param $floor i32) (result i32)
    (local $words i32) (local $length i32) (local $text v128)
    (local.set $text (v128.load (i32.sub (local.get $at) (local.get $back))))
    (local.set $words (i32.add (local.get $shape) (i32.const 960)))
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

  ;; What a line that fits a shape says by its word, or -1 if it does not fit. A shape has steps of 48 bytes: the kind of
  ;; step, a number for it, and from 16 on how 16 bytes are: the lowest byte of each place, and how far above it is fine.
  (func $fit (param $from i32) (param $to i32) (param $shape i32) (result i32)
    (local $at i32) (local $step i32) (local $said i32) (local $count i32) (local $hits i32) (local $byte i32) (local $escape i32) (local $text v128)
    (local.set $at (local.get $from))
    (local.set $step (local.get $shape))
    (local.set $said (i32.const -1))
    (block $fails
      (loop $next
        (block $object (block $severity (block $word (block $string (block $until (block $digits (block $bytes (block $end
          (br_table $end $bytes $digits $until $string $word $severity $object
            (i32.load (local.get $step))))
          ;; end
          (br_if $fails (i32.gt_s (local.get $at) (local.get $to)))
          (global.set $rest (local.get $at))
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
          ;; one to ten digits
          (local.set $count (i32.const 0))
          (block $ends
            (loop $digit
              (br_if $ends
                (i32.gt_u
                  (i32.sub (i32.load8_u (i32.add (local.get $at) (local.get $count))) (i32.const 48))
                  (i32.const 9)))
              (local.set $count (i32.add (local.get $count) (i32.const 1)))
              (br_if $digit (i32.le_s (local.get $count) (i32.const 10)))
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
          ;; a string up to and with its quote; with a number, an escaped line break is before that
          (local.set $escape (i32.const 0))
          (block $ends
            (loop $search
              (br_if $fails (i32.ge_s (local.get $at) (local.get $to)))
              (local.set $text (v128.load (local.get $at)))
              (local.set $text
                (v128.or
                  (i8x16.eq (local.get $text) (i8x16.splat (i32.const 10)))
                  (v128.or
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 34)))
                    (i8x16.eq (local.get $text) (i8x16.splat (i32.const 92))))))
              (if (i32.eqz (v128.any_true (local.get $text)))
                (then
                  (local.set $at (i32.add (local.get $at) (i32.const 16)))
                  (br $search)))
              (local.set $at (i32.add (local.get $at) (i32.ctz (i8x16.bitmask (local.get $text)))))
              (local.set $byte (i32.load8_u (local.get $at)))
              (br_if $ends (i32.eq (local.get $byte) (i32.const 34)))
              (br_if $fails (i32.eq (local.get $byte) (i32.const 10)))
              (local.set $at (i32.add (local.get $at) (i32.const 2)))
              (local.set $escape (local.get $at))
              (br $search)))
          (if (i32.load offset=4 (local.get $step))
            (then
              (br_if $fails (i32.ne (local.get $escape) (local.get $at)))
              (br_if $fails (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 110)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $step (i32.add (local.get $step) (i32.const 48)))
          (br $next))
          ;; one of the words
          (local.set $said (call $word (local.get $at) (local.get $shape) (i32.const 0) (i32.const 0)))
          (br_if $fails (i32.lt_s (local.get $said) (i32.const 0)))
          (local.set $at (global.get $rest))
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
        (local.set $at (call $longLineEnd (local.get $at) (local.get $to)))
        (local.set $at
          (i32.sub (local.get $at)
            (i32.eq (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 10))))
        (br_if $fails (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 125)))
        (local.set $step (i32.add (local.get $step) (i32.const 48)))
        (br $next)))
    (i32.const -1))

  ;; Counts the lines of [from, to) by what their shape's word says, and stops at the first one that fits none of the
  ;; shapes or says `least` or more: gives where that line starts. `state` gets the shape of the line before it,
  ;; and what it says itself (-1 if it has no shape).
  (func (export "shaped")
    (param $from i32) (param $to i32) (param $shapes i32) (param $shapesEnd i32) (param $least i32) (param $state i32)
    (result i32)
    (local $shape i32) (local $said i32) (local $count i32)
    (block $done
      (loop $line
        (br_if $done (i32.ge_s (local.get $from) (local.get $to)))
        (local.set $shape (local.get $shapes))
        (local.set $said (i32.const -1))
        (block $fits
          (loop $next
            (br_if $done (i32.ge_s (local.get $shape) (local.get $shapesEnd)))
            (local.set $said (call $fit (local.get $from) (local.get $to) (local.get $shape)))
            (br_if $fits (i32.ge_s (local.get $said) (i32.const 0)))
            (local.set $shape (i32.add (local.get $shape) (i32.const 1536)))
            (br $next)))
        (br_if $done (i32.ge_s (local.get $said) (local.get $least)))
        (local.set $count
          (i32.add (i32.add (local.get $shape) (i32.const 1472)) (i32.shl (local.get $said) (i32.const 2))))
        (i32.store (local.get $count) (i32.add (i32.load (local.get $count)) (i32.const 1)))
        (i32.store (local.get $state) (local.get $shape))
        (local.set $from (call $longLineEnd (global.get $rest) (local.get $to)))
        (br $line)))
    (i32.store offset=4 (local.get $state) (local.get $said))
    (local.get $from))

  ;; Copies what lies between start and end of each pair, counted from `base`, to `into`, without gaps; gives the end
  ;; of it. A copy writes up to 15 bytes too much, which the next one overwrites.
  (func (export "gather")
    (param $pairs i32) (param $pairsEnd i32) (param $base i32) (param $into i32) (result i32)
    (local $from i32) (local $to i32) (local $next i32)
    (block $done
      (loop $pair
        (br_if $done (i32.ge_u (local.get $pairs) (local.get $pairsEnd)))
        (local.set $from (i32.add (local.get $base) (i32.load (local.get $pairs))))
        (local.set $to (i32.add (local.get $base) (i32.load offset=4 (local.get $pairs))))
        (local.set $next (i32.add (local.get $into) (i32.sub (local.get $to) (local.get $from))))
        (loop $copy
          (v128.store (local.get $into) (v128.load (local.get $from)))
          (local.set $into (i32.add (local.get $into) (i32.const 16)))
          (local.set $from (i32.add (local.get $from) (i32.const 16)))
          (br_if $copy (i32.lt_u (local.get $from) (local.get $to))))
        (local.set $into (local.get $next))
        (local.set $pairs (i32.add (local.get $pairs) (i32.const 8)))
        (br $pair)))
    (local.get $into)))
