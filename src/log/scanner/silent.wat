  ;; Lines without a level: a part of scanner.wat.

  ;; Where a line ends in which no word behind `at` may be a level (see `wordAfter`), or -1. The first word counts, one
  ;; behind a bracket, `<` or `|`, and one in capitals.
  (func $silentEnd (param $at i32) (param $to i32) (result i32)
    (local $text v128) (local $letters i32) (local $words i32) (local $ends i32) (local $carry i32) (local $isFirst i32)
    (local $word i32) (local $before i32) (local $start i32)
    (local.set $isFirst (i32.const 1))
    (loop $next
      (if (i32.ge_s (local.get $at) (local.get $to)) (then (return (local.get $at))))
      (local.set $text (v128.load (local.get $at)))
      (local.set $letters
        (i8x16.bitmask
          (i8x16.lt_u
            (i8x16.sub (v128.or (local.get $text) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 97)))
            (i8x16.splat (i32.const 26)))))
      (local.set $words
        (i32.or
          (local.get $letters)
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u (i8x16.sub (local.get $text) (i8x16.splat (i32.const 48))) (i8x16.splat (i32.const 10)))
              (i8x16.eq (local.get $text) (i8x16.splat (i32.const 95)))))))
      ;; the time of an access log: `[15/Nov/`
      (if
        (v128.any_true
          (v128.and
            (i8x16.eq (local.get $text) (i8x16.splat (i32.const 91)))
            (i8x16.eq (v128.load offset=3 (local.get $at)) (i8x16.splat (i32.const 47)))))
        (then (return (i32.const -1))))
      ;; a line break, or a colour
      (local.set $ends
        (i8x16.bitmask
          (v128.or
            (i8x16.eq (local.get $text) (i8x16.splat (i32.const 10)))
            (i8x16.eq (local.get $text) (i8x16.splat (i32.const 27))))))
      ;; the places where words begin, before that
      (local.set $letters
        (i32.and
          (i32.and
            (local.get $letters)
            (i32.xor (i32.or (i32.shl (local.get $words) (i32.const 1)) (local.get $carry)) (i32.const -1)))
          (i32.sub (i32.and (local.get $ends) (i32.sub (i32.const 0) (local.get $ends))) (i32.const 1))))
      (block $seen
        (loop $each
          (br_if $seen (i32.eqz (local.get $letters)))
          (local.set $start (i32.add (local.get $at) (i32.ctz (local.get $letters))))
          (local.set $letters (i32.and (local.get $letters) (i32.sub (local.get $letters) (i32.const 1))))
          (local.set $word (i32.load (local.get $start)))
          (if (call $isBeginning (local.get $word))
            (then
              (local.set $before (i32.load8_u (i32.sub (local.get $start) (i32.const 1))))
              (if
                (i32.or
                  (i32.or
                    ;; a byte order mark may be between a bracket and its word
                    (i32.or (local.get $isFirst) (i32.eq (local.get $before) (i32.const 0xbf)))
                    (i32.eqz (i32.and (local.get $word) (i32.const 0x202020))))
                  (i32.or
                    (i32.or
                      (i32.eq (local.get $before) (i32.const 91))
                      (i32.eq (local.get $before) (i32.const 40)))
                    (i32.or
                      (i32.eq (local.get $before) (i32.const 60))
                      (i32.eq (local.get $before) (i32.const 124)))))
                (then (return (i32.const -1))))))
          (local.set $isFirst (i32.const 0))
          (br $each)))
      (if (local.get $ends)
        (then
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $ends))))
          (return
            (select (local.get $at) (i32.const -1) (i32.eq (i32.load8_u (local.get $at)) (i32.const 10))))))
      (local.set $carry (i32.and (i32.shr_u (local.get $words) (i32.const 15)) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next))
    (unreachable))

  ;; Whether a level may begin with the first three bytes of a word: 512 has a bit for each three letters.
  (func $isBeginning (param $word i32) (result i32)
    (local $letters i32)
    (local.set $letters
      (i32.or
        (i32.or
          (i32.shl (i32.and (local.get $word) (i32.const 31)) (i32.const 10))
          (i32.and (i32.shr_u (local.get $word) (i32.const 3)) (i32.const 0x3e0)))
        (i32.and (i32.shr_u (local.get $word) (i32.const 16)) (i32.const 31))))
    (i32.and
      (i32.shr_u
        (i32.load8_u offset=512 (i32.shr_u (local.get $letters) (i32.const 3)))
        (i32.and (local.get $letters) (i32.const 7)))
      (i32.const 1)))
