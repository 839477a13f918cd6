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
    guard let source = DispatchSource.makeUserDataAddSource(queue: queue) as? DispatchSource else {
      preconditionFailure("every source is of this class")
    }
    return source
  }
}

extension DispatchSource: DispatchSourceFileSystemObject {}
