import Dispatch

/// Where tasks are created, resumed and cancelled, in the order in which that was decided.
///
/// On Linux each of these waits for a queue that all sessions share, for seconds when that is busy; here, no caller and no
/// delegate callback waits with it, nor can two of them wait for each other, as the platform's own async methods do
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5412). Test: `URLSessionTests`, "cancelling Swift tasks that
/// await a request does not stop all sessions".
enum TransferQueue {
    static let control = DispatchQueue(label: "Deferred.transfer-control", qos: .userInitiated)
}
