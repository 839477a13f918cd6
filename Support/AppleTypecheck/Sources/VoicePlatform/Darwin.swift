// What the module Darwin has and Glibc has not. A module of that name would mislead the test runner.
import Dispatch
import Glibc

let O_EVTONLY: Int32 = O_RDONLY

protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}

extension DispatchSource {
  /// A source that never fires: kqueue(2) is not here.
  class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject {
    SilentSource()
  }
}

final class SilentSource: DispatchSourceFileSystemObject {
  private var cancelHandler: DispatchSourceHandler?

  func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?) {}
  func setEventHandler(handler: DispatchWorkItem) {}
  func setCancelHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?) {
    self.cancelHandler = handler
  }
  func setCancelHandler(handler: DispatchWorkItem) {}
  func setRegistrationHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?) {}
  func setRegistrationHandler(handler: DispatchWorkItem) {}
  func cancel() { self.cancelHandler?() }
  func resume() {}
  func suspend() {}
  func activate() {}
  var handle: UInt { 0 }
  var mask: UInt { 0 }
  var data: UInt { 0 }
  var isCancelled: Bool { false }
}
