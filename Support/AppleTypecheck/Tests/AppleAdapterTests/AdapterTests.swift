import Testing

/// The declared frameworks are one for the process, so all tests come one after the other.
@Suite(.serialized)
enum AdapterTests {}
