import CallSignaling
import VoiceCore

/// Renders what a machine does with each event in each state, so that a test compares it with a table for readers.
///
/// A cell is the state afterwards; `=` if it did something and stayed, `.` if the event is ignored, `-` if nothing happens.
struct TransitionTable<State, Event> {
  let states: [(name: String, state: State)]
  let events: [(name: String, event: Event)]
  /// The name of the state afterwards, whether the event was ignored, and whether there were actions.
  let step: (State, Event) -> (name: String, ignored: Bool, acted: Bool)

  var text: String {
    let names = self.states.map(\.name)
    var rows: [[String]] = [[""] + names]
    for (name, event) in self.events {
      rows.append(
        [name]
          + self.states.map { state in
            let result = self.step(state.state, event)
            if result.ignored { return "." }
            if result.name != state.name { return result.name }
            return result.acted ? "=" : "-"
          })
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}

/// Instants of the tests, in seconds.
func at(_ seconds: Double) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

let lateInstant = at(100_000)

extension Array {
  /// The element, if there is exactly one.
  var only: Element? { self.count == 1 ? self.first : nil }
}
