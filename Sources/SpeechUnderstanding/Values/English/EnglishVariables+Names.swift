extension EnglishVariables {
  static let names: [String: String] = [
    "EN_FIRST_NAME": Self.list(
      """
      aaron abigail adam adrian alan albert alex alexander alexandra alice alicia allison amanda amber amelia amy andrea
      andrew angela anna anne anthony arthur ashley audrey austin barbara ben benjamin beth betty beverly bill bob
      bonnie bradley brandon brenda brian brittany bruce bryan caleb cameron carl carla carlos carol caroline carolyn
      catherine charles charlie charlotte cheryl chloe chris christian christina christine christopher cindy claire
      connor craig cynthia dale dan daniel danielle david dawn dean deborah dennis diana diane donald donna doris
      dorothy douglas dylan edward edwin elaine eleanor elena elizabeth ella ellen emily emma eric erica ethan eugene
      eva evan evelyn fiona frances francis frank fred gabriel gary gavin george gerald gloria grace graham greg
      gregory hannah harold harry heather helen henry holly howard hugh ian isaac isabella jack jackie jacob jacqueline
      james jamie jane janet janice jason jean jeff jeffrey jennifer jeremy jerry jessica jill jim joan joanna joe joel
      john johnny jonathan jordan joseph joshua joyce juan judith judy julia julian julie justin karen kate katherine
      kathleen kathryn katie keith kelly kenneth kevin kim kimberly kyle larry laura lauren lawrence leo leonard lewis
      liam linda lisa logan lori louis louise lucas lucy luke lynn madison marcus margaret maria marie marilyn mark
      martha martin mary matthew max megan melissa michael michelle mike mildred molly monica nancy natalie nathan
      neil nicholas nicole nigel noah nora norma olivia oliver oscar owen pamela patricia patrick paul paula peggy
      peter philip phillip phyllis rachel ralph randy raymond rebecca rhonda richard rita rob robert robin rodney roger
      ronald rosa rose ross roy russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean sebastian
      shannon sharon shaun sheila shirley simon sophia sophie stanley stella stephanie stephen steve steven stuart sue
      susan suzanne sylvia tamara tara ted teresa terry theodore theresa thomas tiffany tim timothy tina todd tom tony
      tracy travis tyler valerie vanessa vera veronica vicky victor victoria vincent virginia walter wanda warren wayne
      wendy will william yvonne zachary zoe
      """.split(whereSeparator: \.isWhitespace).map(String.init)),
    "EN_LAST_NAME": Self.list(
      """
      adams alexander allen anderson armstrong arnold atkinson austin bailey baker ball banks barker barnes barnett
      bell bennett berry bishop black blair bond bowman boyd bradley brooks brown bryant burke burns burton butler
      campbell carpenter carr carroll carter chambers chapman chen clark clarke cohen cole coleman collins conan cook
      cooper cox crawford cruz cunningham curtis daniels davidson davies davis dawson day dean diaz dixon doyle duncan
      dunn earhart edwards elliott ellis evans ferguson fernandez fisher fleming fletcher flores ford foster fox
      francis franklin fraser freeman fuller garcia gardner george gibson gilbert gill gomez gonzalez gordon graham
      grant gray green greene griffin griffiths hall hamilton hansen harper harris harrison hart harvey hawkins hayes
      henderson henry hernandez hicks hill holland holmes holt howard hudson hughes hunt hunter ingram jackson jacobs
      james jenkins jennings jensen johnson johnston jones jordan kaur kelley kelly kennedy khan kim king knight kumar
      lambert lane larson lawrence lawson lee lewis little lloyd long lopez lowe lynch macdonald marshall martin
      martinez mason matthews mcdonald mckenzie medina mendoza meyer miles miller mills mitchell moore morales moran
      morgan morris morrison murphy murray myers nelson newman nguyen nichols o'brien o'connor o'neill oliver ortiz
      owens palmer parker parsons patel patterson payne pearce pearson perez perkins perry peters peterson phillips
      pierce porter powell powers price quinn ramirez ramos reed reid reyes reynolds rice richards richardson riley
      rivera roberts robertson robinson rodriguez rogers rose ross russell ryan sanchez sanders saunders schmidt
      schneider scott shaw silva simmons simpson singh smith snyder spencer stephens stevens stevenson stewart stone
      sullivan taylor thomas thompson torres tucker turner vargas wagner walker wallace walsh ward warren washington
      watkins watson watts weaver webb weber welch wells west wheeler white wilkinson williams williamson willis wilson
      wong wood woods wright wu yang young zhang zimmerman
      """.split(whereSeparator: \.isWhitespace).map(String.init)),
    // Three to ten letters; two could be initials.
    "EN_SPELLED": """
    $SPEECHLY.EN_LETTER $SPEECHLY.EN_LETTER \(Self.repeated("$SPEECHLY.EN_LETTER", upTo: 8))
    """,
    "PERSON_NAME": """
    [ 2: $SPEECHLY.EN_FIRST_NAME
    | 4: $SPEECHLY.EN_FIRST_NAME {0.1: $SPEECHLY.EN_LETTER} $SPEECHLY.EN_LAST_NAME
    | [mister | missus | miss | doctor] $SPEECHLY.EN_LAST_NAME
    | $SPEECHLY.EN_SPELLED {$SPEECHLY.EN_LAST_NAME}
    | $SPEECHLY.EN_FIRST_NAME $SPEECHLY.EN_SPELLED ]
    """,
  ]

  static let addresses: [String: String] = [
    "EN_ADDRESS_WORD": """
    [ 2: $SPEECHLY.EN_FIRST_NAME | 2: $SPEECHLY.EN_LAST_NAME | $SPEECHLY.EN_LETTER | $SPEECHLY.EN_SPELLED
    | [contact | hello | help | info | mail | news | office | sales | shop | support | team] ]
    """,
    "EN_ADDRESS_NUMBER": "\(Self.repeated("[$SPEECHLY.EN_DIGIT | $SPEECHLY.EN_TWO_DIGITS]", upTo: 4))",
    "EN_HOST": """
    [ gmail | g mail | hotmail | outlook | yahoo | icloud | company | example | mail | speechly | google | amazon
    | wikipedia | facebook | youtube | twitter | github | apple | microsoft
    | $SPEECHLY.EN_SPELLED | $SPEECHLY.EN_LAST_NAME {dash [group | media | services | shop]} ]
    """,
    "EN_DOMAIN": """
    $SPEECHLY.EN_HOST dot
    [ 8: com | 2: org | 2: net | edu | gov | info | io | ai | app | dev | co dot uk | com dot au | u k | u s | ca
    | de | fr | c o m | o r g | n e t ]
    """,
    "EMAIL_ADDRESS": """
    $SPEECHLY.EN_ADDRESS_WORD {[dot | underscore | dash] $SPEECHLY.EN_ADDRESS_WORD} {$SPEECHLY.EN_ADDRESS_NUMBER}
    {0.05: plus $SPEECHLY.EN_ADDRESS_WORD} at $SPEECHLY.EN_DOMAIN
    """,
    "EN_SCHEME": "[http | https | h t t p | h t t p s] colon [slash slash | double slash]",
    "EN_PATH": """
    slash [about | account | blog | contact | docs | download | en | help | home | index | login | news | search | shop
    | support | $SPEECHLY.EN_SPELLED] {$SPEECHLY.EN_ADDRESS_NUMBER}
    """,
    "WEB_ADDRESS": """
    {0.2: $SPEECHLY.EN_SCHEME} {[www | w w w | triple w | docs | shop | blog | news] dot} $SPEECHLY.EN_DOMAIN
    {0.05: colon $SPEECHLY.EN_DIGIT $SPEECHLY.EN_THREE_DIGITS} {0.3: $SPEECHLY.EN_PATH {0.3: $SPEECHLY.EN_PATH}}
    """,
    "EN_STREET": """
    [ 20: {0.1: [north | south | east | west]} [$SPEECHLY.EN_LAST_NAME | $SPEECHLY.SMALL_ORDINAL_NUMBER | main | high | park
      | oak | maple | cedar | elm | pine | church | mill | lake | river | spring | station | victoria | market
      | bridge | garden]
      [street | road | avenue | lane | drive | boulevard | court | place | way | square | terrace | crescent]
    | broadway ]
    """,
    "EN_HOUSE_NUMBER": """
    [ $SPEECHLY.EN_BELOW_THOUSAND | $SPEECHLY.EN_TWO_DIGITS $SPEECHLY.EN_PAIR | $SPEECHLY.EN_DIGITS
    | $SPEECHLY.EN_NONZERO_DIGIT $SPEECHLY.EN_PAIR ] {0.1: $SPEECHLY.EN_LETTER}
    """,
    "STREET_ADDRESS": """
    {0.8: $SPEECHLY.EN_HOUSE_NUMBER} $SPEECHLY.EN_STREET {0.2: [apartment | flat | suite | unit] $SPEECHLY.EN_BELOW_THOUSAND}
    """,
  ]
}
