extension EnglishVariables {
  static let numbers: [String: String] = [
    "EN_NONZERO_DIGIT": "[one | two | three | four | five | six | seven | eight | nine]",
    "EN_DIGIT": "[zero | oh | $SPEECHLY.EN_NONZERO_DIGIT]",
    "EN_TEEN": Self.list(EnglishNumbers.teenNames),
    "EN_TENS": Self.list(EnglishNumbers.tenNames.dropFirst(2)),
    "EN_TWO_DIGITS": "[$SPEECHLY.EN_TEEN | $SPEECHLY.EN_TENS {$SPEECHLY.EN_NONZERO_DIGIT}]",
    "EN_BELOW_HUNDRED": "[$SPEECHLY.EN_NONZERO_DIGIT | $SPEECHLY.EN_TWO_DIGITS]",
    "EN_BELOW_THOUSAND": """
    [$SPEECHLY.EN_BELOW_HUNDRED | [a | $SPEECHLY.EN_NONZERO_DIGIT] hundred {{and} $SPEECHLY.EN_BELOW_HUNDRED}]
    """,
    "EN_BELOW_MILLION": """
    [ $SPEECHLY.EN_BELOW_THOUSAND
    | [a | $SPEECHLY.EN_BELOW_THOUSAND] thousand {{and} $SPEECHLY.EN_BELOW_THOUSAND} ]
    """,
    "EN_TEEN_HUNDRED": "$SPEECHLY.EN_TEEN hundred {{and} $SPEECHLY.EN_BELOW_HUNDRED}",
    // 1 to 999,999,999.
    "EN_WHOLE": """
    [ $SPEECHLY.EN_BELOW_MILLION
    | $SPEECHLY.EN_TEEN_HUNDRED
    | [a | $SPEECHLY.EN_BELOW_THOUSAND] million {{and} $SPEECHLY.EN_BELOW_MILLION} ]
    """,
    "EN_MINUS": "[minus | negative]",
    // After "point": single digits, or two together as in "eight point twelve".
    "EN_DECIMALS": "[\(Self.repeated("$SPEECHLY.EN_DIGIT", upTo: 6)) | $SPEECHLY.EN_TWO_DIGITS]",
    "EN_FRACTION": """
    [ {a} half | {a} quarter
    | [a | one] [third | fifth | sixth | eighth | tenth]
    | two thirds | three quarters | [two | three | four] fifths | [three | five | seven] eighths
    | [three | seven | nine] tenths ]
    """,
    "EN_SCALE": "[hundred | thousand | million]",
    "EN_ZERO_OR_WHOLE": "[zero | $SPEECHLY.EN_WHOLE]",
    "EN_BROKEN": """
    [ {$SPEECHLY.EN_ZERO_OR_WHOLE} point $SPEECHLY.EN_DECIMALS {[thousand | million | billion]}
    | {$SPEECHLY.EN_BELOW_THOUSAND and} $SPEECHLY.EN_FRACTION
    | [half a | a quarter of a | three quarters of a] $SPEECHLY.EN_SCALE
    | $SPEECHLY.EN_BELOW_HUNDRED and a half $SPEECHLY.EN_SCALE ]
    """,
    // Two to nine digits said one by one.
    "EN_DIGITS": "$SPEECHLY.EN_DIGIT \(Self.repeated("$SPEECHLY.EN_DIGIT", upTo: 8))",
    "NUMBER": """
    [ $SPEECHLY.CARDINAL_NUMBER
    | {$SPEECHLY.EN_MINUS} $SPEECHLY.EN_BROKEN
    | $SPEECHLY.EN_DIGITS
    | $SPEECHLY.EN_TWO_DIGITS $SPEECHLY.EN_PAIR
    | [a | half a | $SPEECHLY.EN_BELOW_HUNDRED] dozen ]
    """,
    "CARDINAL_NUMBER": "[zero | {$SPEECHLY.EN_MINUS} $SPEECHLY.EN_WHOLE]",
    "POSITIVE_NUMBER": "$SPEECHLY.EN_WHOLE",
    "NEGATIVE_NUMBER": "$SPEECHLY.EN_MINUS $SPEECHLY.EN_WHOLE",
    // Below two hundred.
    "EN_SMALL": "[$SPEECHLY.EN_BELOW_HUNDRED | [a | one] hundred {{and} $SPEECHLY.EN_BELOW_HUNDRED}]",
    "SMALL_CARDINAL_NUMBER": "[zero | {$SPEECHLY.EN_MINUS} $SPEECHLY.EN_SMALL]",
    "SMALL_NUMBER": """
    [ $SPEECHLY.SMALL_CARDINAL_NUMBER
    | {$SPEECHLY.EN_MINUS} {[zero | $SPEECHLY.EN_SMALL]} point $SPEECHLY.EN_DECIMALS
    | {$SPEECHLY.EN_MINUS} {$SPEECHLY.EN_SMALL and} $SPEECHLY.EN_FRACTION ]
    """,
    // The second half of a year or another number in pairs.
    "EN_PAIR": "[$SPEECHLY.EN_TWO_DIGITS | [oh | zero] $SPEECHLY.EN_NONZERO_DIGIT]",
    "FOUR_DIGIT_NUMBER": """
    [ $SPEECHLY.EN_DIGIT $SPEECHLY.EN_DIGIT $SPEECHLY.EN_DIGIT $SPEECHLY.EN_DIGIT
    | $SPEECHLY.EN_TWO_DIGITS $SPEECHLY.EN_PAIR
    | $SPEECHLY.EN_TEEN_HUNDRED
    | [a | $SPEECHLY.EN_NONZERO_DIGIT] thousand {{and} $SPEECHLY.EN_BELOW_THOUSAND} ]
    """,
    "EN_ORDINAL_BELOW_TWENTY": Self.list(
      EnglishNumbers.unitNames.dropFirst().compactMap(Self.ordinal)
        + EnglishNumbers.teenNames.compactMap(Self.ordinal)),
    "EN_ORDINAL_28": """
    [ $SPEECHLY.EN_ORDINAL_BELOW_TWENTY | twentieth
    | twenty [first | second | third | fourth | fifth | sixth | seventh | eighth] ]
    """,
    "EN_ORDINAL_30": "[$SPEECHLY.EN_ORDINAL_28 | twenty ninth | thirtieth]",
    "SMALL_ORDINAL_NUMBER": "[$SPEECHLY.EN_ORDINAL_30 | thirty first]",
  ]

  private static func ordinal(_ name: String) -> String? {
    EnglishNumbers.ordinals.first { $0.value == name }?.key
  }
}
