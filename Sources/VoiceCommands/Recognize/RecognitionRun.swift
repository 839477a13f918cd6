import VoiceCore

/// Recognises inputs one after the other and shows what is heard, until they end or the person stops it.
struct RecognitionRun<Presenter: RecognitionPresenter>: Sendable {
  let backend: any RecognitionBackend
  let inputs: [RecognitionInput]
  var presenter: Presenter
  let stopSignals: @Sendable () -> AsyncStream<StopSignal>

  private enum Event: Sendable {
    case update(RecognitionUpdate)
    case inputEnded
    case signal
  }

  /// How one input ended.
  private struct Outcome {
    var status = CommandStatus.done
    var endsTheCommand = false
  }

  mutating func run() async -> CommandStatus {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { [stopSignals] in
        for await _ in stopSignals() { continuation.yield(.signal) }
      }
      var iterator = events.makeAsyncIterator()
      var stop = StopMachine()
      var status = CommandStatus.done
      for (index, input) in self.inputs.enumerated() {
        let request = StopRequest()
        self.presenter.began(input)
        group.addTask { [backend] in
          await backend.recognize(input.source, until: request) { continuation.yield(.update($0)) }
          continuation.yield(.inputEnded)
        }
        let outcome = await self.follow(&iterator, request, &stop)
        status = status.combined(with: outcome.status)
        let isLast = index == self.inputs.count - 1
        if stop.isAborted || stop.wasAsked && !(isLast && input.isOpenEnded) {
          status = .interrupted
        }
        if stop.wasAsked || outcome.endsTheCommand { break }
      }
      stop.workEnded()
      self.presenter.ended()
      group.cancelAll()
      return status
    }
  }

  private mutating func follow(
    _ events: inout AsyncStream<Event>.Iterator, _ request: StopRequest, _ stop: inout StopMachine
  ) async -> Outcome {
    var outcome = Outcome()
    while let event = await events.next() {
      switch event {
      case .update(let update):
        self.presenter.show(update)
        if case .failed(let failure) = update, !failure.isNotice {
          outcome.status = outcome.status.combined(with: CommandStatus(failure.code))
          outcome.endsTheCommand = outcome.endsTheCommand || failure.endsTheCommand
        }
      case .inputEnded:
        return outcome
      case .signal:
        switch stop.signalArrived() {
        case .stopGracefully:
          self.presenter.stopping()
          request.make()
        case .abort:
          return outcome
        case .ignore:
          break
        }
      }
    }
    return outcome
  }
}
