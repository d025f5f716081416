import Dispatch

/// Where tasks are created, resumed and cancelled, in the order in which that was decided.
///
/// On Linux each of these waits for a queue that all sessions share, for seconds when that is busy; here, no caller and no
/// delegate callback waits with it.
enum TransferQueue {
    static let control = DispatchQueue(label: "Deferred.transfer-control", qos: .userInitiated)
}
