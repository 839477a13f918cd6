extension EnglishVariables {
  static let dates: [String: String] = [
    "EN_WEEKDAY": "[monday | tuesday | wednesday | thursday | friday | saturday | sunday]",
    "EN_MONTH_31": "[january | march | may | july | august | october | december]",
    "EN_MONTH_30": "[april | june | september | november]",
    "EN_MONTH": "[$SPEECHLY.EN_MONTH_31 | $SPEECHLY.EN_MONTH_30 | february]",
    // 1900 to 2099.
    "EN_YEAR": """
    [ [nineteen | twenty] $SPEECHLY.EN_PAIR | nineteen hundred
    | two thousand {{and} $SPEECHLY.EN_TEEN} | two thousand {and} $SPEECHLY.EN_NONZERO_DIGIT
    | two thousand {and} twenty {$SPEECHLY.EN_NONZERO_DIGIT} ]
    """,
    "EN_LEAP_YEAR": """
    [ two thousand {{and} [four | eight | twelve | sixteen | twenty {[four | eight]}]}
    | [nineteen | twenty] [oh [four | eight] | twelve | sixteen | [twenty | forty | sixty | eighty] {[four | eight]}
      | [thirty | fifty | seventy | ninety] [two | six]] ]
    """,
    // A day and its month in either order, so that no day is said that the month does not have.
    "EN_DAY_AND_MONTH": """
    [ $SPEECHLY.EN_MONTH_31 {the} $SPEECHLY.SMALL_ORDINAL_NUMBER
    | $SPEECHLY.EN_MONTH_30 {the} $SPEECHLY.EN_ORDINAL_30
    | february {the} $SPEECHLY.EN_ORDINAL_28
    | {the} $SPEECHLY.SMALL_ORDINAL_NUMBER {of} $SPEECHLY.EN_MONTH_31
    | {the} $SPEECHLY.EN_ORDINAL_30 {of} $SPEECHLY.EN_MONTH_30
    | {the} $SPEECHLY.EN_ORDINAL_28 {of} february ]
    """,
    "EN_LEAP_DAY": "[february {the} twenty ninth | {the} twenty ninth {of} february]",
    "EN_CALENDAR_DATE": """
    [ {$SPEECHLY.EN_WEEKDAY} $SPEECHLY.EN_DAY_AND_MONTH | $SPEECHLY.EN_DAY_AND_MONTH $SPEECHLY.EN_YEAR
    | $SPEECHLY.EN_LEAP_DAY {$SPEECHLY.EN_LEAP_YEAR}
    | {$SPEECHLY.EN_WEEKDAY} the $SPEECHLY.SMALL_ORDINAL_NUMBER
    | the $SPEECHLY.EN_ORDINAL_28 of [this | next | last] month
    | {next} [christmas {eve} | christmas day | new year's eve | new year's day | halloween | valentine's day] ]
    """,
    "EN_NEAR_DAY": """
    [ today | tomorrow | yesterday | {the} day after tomorrow | {the} day before yesterday ]
    """,
    "EN_DAYS": """
    [ [a | one] [day | week | month | year] | a fortnight
    | $SPEECHLY.EN_BELOW_HUNDRED [days | weeks | months] ]
    """,
    "EN_DAYS_APART": """
    [ in $SPEECHLY.EN_DAYS | $SPEECHLY.EN_DAYS [ago | from now | from today]
    | a week from [tomorrow | {next} $SPEECHLY.EN_WEEKDAY] ]
    """,
    "EN_PERIOD": """
    [ [this | next | last] [week | weekend | month | year]
    | {the} [beginning | end] of [the | this | next] [week | month | year]
    | {[this | next | last]} $SPEECHLY.EN_MONTH | $SPEECHLY.EN_MONTH $SPEECHLY.EN_YEAR ]
    """,
    "DATE": """
    [ $SPEECHLY.EN_NEAR_DAY
    | {[this | next | last]} $SPEECHLY.EN_WEEKDAY
    | $SPEECHLY.EN_WEEKDAY [this | next] week
    | $SPEECHLY.EN_CALENDAR_DATE
    | $SPEECHLY.EN_DAYS_APART
    | $SPEECHLY.EN_PERIOD ]
    """,
  ]

  static let times: [String: String] = [
    "EN_HOUR": Self.list(EnglishNumbers.unitNames.dropFirst() + ["ten", "eleven", "twelve"]),
    "EN_LATE_HOUR": """
    [ thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen | twenty {[one | two | three]} ]
    """,
    // 01 to 59, in two digits.
    "EN_MINUTES": """
    [ [oh | zero] $SPEECHLY.EN_NONZERO_DIGIT | $SPEECHLY.EN_TEEN
    | [twenty | thirty | forty | fifty] {$SPEECHLY.EN_NONZERO_DIGIT} ]
    """,
    "EN_PART_OF_DAY": """
    [ am | a.m. | a m | pm | p.m. | p m | in the morning | in the afternoon | in the evening | at night ]
    """,
    "EN_PAST": "[{a} quarter | [five | ten | twenty | twenty five] {minutes}]",
    "EN_SPAN": """
    [ half an hour | a quarter of an hour | an hour {and a half} | [a | one] minute
    | $SPEECHLY.EN_BELOW_HUNDRED [minutes | hours] | $SPEECHLY.EN_HOUR and a half hours
    | [an hour | $SPEECHLY.EN_HOUR hours] and $SPEECHLY.EN_BELOW_HUNDRED minutes ]
    """,
    "TIME": """
    [ $SPEECHLY.EN_HOUR {[o'clock | $SPEECHLY.EN_MINUTES]} {$SPEECHLY.EN_PART_OF_DAY}
    | [half past | $SPEECHLY.EN_PAST [past | after | to]] $SPEECHLY.EN_HOUR {$SPEECHLY.EN_PART_OF_DAY}
    | $SPEECHLY.EN_PAST [past | to] [noon | midnight]
    | $SPEECHLY.EN_LATE_HOUR [$SPEECHLY.EN_MINUTES | hundred {hours}]
    | [oh | zero] $SPEECHLY.EN_NONZERO_DIGIT [$SPEECHLY.EN_MINUTES | hundred {hours}]
    | noon | midday | midnight
    | in $SPEECHLY.EN_SPAN | $SPEECHLY.EN_SPAN from now ]
    """,
  ]
}
