public import CallSignaling

// The documented names of types that client and gateway share, so that an app needs no second import for them.
public typealias CallState = CallSignaling.CallState
public typealias CallTerminationReason = CallSignaling.CallTerminationReason
public typealias HangupCause = CallSignaling.HangupCause
public typealias Dialect = CallSignaling.Dialect
public typealias SDP = CallSignaling.SDP
