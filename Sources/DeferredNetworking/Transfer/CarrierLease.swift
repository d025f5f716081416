import Foundation

/// The right to create tasks on a carrier session, which isn't invalidated while somebody has it.
package struct CarrierLease: Sendable {
    package let carrier: CarrierSession
    private let onReturn: @Sendable () -> Void

    /// - Parameter onReturn: called once, when nothing of the transfer is left on the session.
    package init(_ carrier: CarrierSession, onReturn: @escaping @Sendable () -> Void = {}) {
        self.carrier = carrier
        self.onReturn = onReturn
    }

    func giveBack() {
        onReturn()
    }
}
