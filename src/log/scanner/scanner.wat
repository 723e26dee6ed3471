;; The inner loops of a search, 16 bytes at a time. `npm run wasm` turns this, silent.wat and shapes.wat into
;; scanner-code.ts.
;;
;; Memory: the needle from 0 on; from 512 on a bit for each three letters that a level begins with; from 4096 on what is set in a byte before it is compared (0x20 makes a letter small);
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
    (local.get $into))

  ;; silent.wat follows here.
  ;; shapes.wat follows here.
)
