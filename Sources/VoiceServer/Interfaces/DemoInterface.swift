package import Foundation
package import SpeechUnderstanding

/// What the demo app understands: lights, heating, blinds, music, timers and questions about the home.
///
/// It stands in the source, because a server without any configuration must have it.
package enum DemoInterface {
  /// The id of the demo app's configuration until another is deployed.
  package static let configID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 5))

  /// The files of the configuration.
  package static var files: [ConfigurationFile] {
    [ConfigurationFile(name: "app.yaml", text: self.text)]
  }

  /// The configuration: YAML with templates in SAL.
  package static let text = #"""
    lang: en-US
    entities:
      - {name: device, type: string}
      - {name: room, type: string}
      - {name: color, type: string}
      - {name: brightness, type: number}
      - {name: degrees, type: number}
      - {name: amount, type: number}
      - {name: unit, type: string}
      - {name: genre, type: string}
    templates: |
      # Where, and what
      room = [kitchen | living room | bedroom | bathroom | dining room | hallway | office | garage | garden]
      in_room = {[9: in | for] the $room(room)}
      light = [light | lights | lamp | lamps]
      device = [5: $light | radio | fan | television | coffee machine | heating]
      color = [red | green | blue | yellow | orange | purple | pink | white | warm white]
      genre = [jazz | rock | classical | pop | dance | folk | country | relaxing | party]
      polite = {0.2: please}
      can_you = {0.3: [can you | could you | i want you to | and | then | and then]}

      # Lights and other devices
      *turn_on $can_you [turn | switch] on the {[$room](room)} $device(device) $in_room $polite
      *turn_on $can_you [turn | switch] the $device(device) on $in_room $polite
      *turn_off $can_you [turn | switch] off the {[$room](room)} $device(device) $in_room $polite
      *turn_off $can_you [turn | switch] the $device(device) off $in_room $polite
      *turn_off $can_you [turn | switch] off [everything](device) $in_room $polite
      *set_brightness $can_you [set | dim] the $light(device) $in_room to [1..100](brightness) percent $polite
      *set_brightness $can_you [set | dim] the [$room](room) $light(device) to [1..100](brightness) percent $polite
      *set_color $can_you [make | turn] the $light(device) $in_room $color(color) $polite
      *set_color $can_you [make | turn] the [$room](room) $light(device) $color(color) $polite
      *set_color set the color of the $light(device) $in_room to $color(color) $polite

      # Heating and blinds
      *set_temperature $can_you [set | turn] the [heating | temperature](device) $in_room to [5..30](degrees) {degrees} $polite
      *set_temperature $can_you [set | turn] the [heating | temperature](device) to [5..30](degrees) {degrees} in the $room(room) $polite
      *warmer [make it warmer | it is too cold | i am cold] {[in | for] the $room(room)}
      *cooler [make it cooler | it is too hot | i am hot] {[in | for] the $room(room)}
      *open_blinds $can_you [open | raise] the {[$room](room)} [blinds | shutters | curtains](device) $in_room $polite
      *close_blinds $can_you [close | lower] the {[$room](room)} [blinds | shutters | curtains](device) $in_room $polite

      # Music
      *play_music $can_you play {some} $genre(genre) music $in_room $polite
      *play_music $can_you play {some} music $in_room $polite
      *stop_music $can_you [stop | pause] the music $in_room $polite
      *volume_up [turn up the volume | turn the music up | make it louder] $in_room $polite
      *volume_down [turn down the volume | turn the music down | make it quieter] $in_room $polite

      # Timers
      unit = [seconds | minutes | hours]
      *set_timer $can_you [set | start] a timer for [2..60](amount) $unit(unit) $polite
      *set_timer $can_you [set | start] a timer for [one](amount) [second | minute | hour](unit) $polite
      *set_timer $can_you [set | start] a [2..60](amount) [second | minute | hour](unit) timer $polite
      *cancel_timer $can_you [cancel | stop] the timer $polite

      # Questions
      *ask_temperature [what is the temperature | how warm is it | how cold is it] $in_room
      *ask_status [is | are] the $device(device) on $in_room
    """#
}
