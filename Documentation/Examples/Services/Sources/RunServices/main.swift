import Deferred
import Foundation
import Services

/// Runs the clients against real servers, those of Debian's packages, on this machine. A server that isn't installed is
/// skipped, and the reason told.
try await runRegistry()
try await runEtcd()
try await runWebDAV()
