internal import DeferredCore

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// One request, from its check to its one result, over as many platform tasks as redirects and challenges take.
///
/// This is the storage over ``TransferStateMachine``: it takes the lock, feeds the event, lets go of the lock, and performs
/// the actions. Actions wait in an outbox that one thread at a time empties, so that the sink sees them one by one and in the
/// order in which they were decided, whichever threads the events come from.
///
/// A running transfer is retained by its session; it needs no owner, and dropping it doesn't cancel it.
package final class Transfer: Sendable {
    struct State {
        var machine: TransferStateMachine
        var outbox: [TransferStateMachine.Action] = []
        var isEmptyingOutbox = false
        var task: URLSessionTask?
        var challenge: URLAuthenticationChallenge?
        var sink: (any TransferSink)?
        var sinkError: (any Error)?
        var lease: CarrierLease?
        var advisor: (any TransferAdvisor)?
        var configure: (@Sendable (URLSessionTask) -> Void)?
    }

    let state: Lock<State>

    private init(
        _ request: TransferRequest,
        redirectLimit: Int,
        lease: CarrierLease,
        advisor: (any TransferAdvisor)?,
        configure: (@Sendable (URLSessionTask) -> Void)?,
        sink: any TransferSink
    ) {
        state = Lock(
            State(
                machine: TransferStateMachine(request: request, redirectLimit: redirectLimit),
                sink: sink,
                lease: lease,
                advisor: advisor,
                configure: configure
            )
        )
    }

    /// Begins a transfer and returns at once. A request that can't be sent ends in `sink.finish` before this returns.
    ///
    /// - Parameters:
    ///   - lease: the session that carries it, given back when nothing of the transfer is left there.
    ///   - redirectLimit: how many redirects are followed.
    ///   - advisor: who is asked about redirects and challenges.
    ///   - configure: applied to each platform task before it is resumed.
    package static func start(
        _ request: TransferRequest,
        on lease: CarrierLease,
        redirectLimit: Int = RedirectRules.hopLimit,
        advisor: (any TransferAdvisor)? = nil,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil,
        sink: any TransferSink
    ) -> Transfer {
        let checked = RequestCheck.normalised(lease.carrier.addingDefaultHeaders(to: request))
        let transfer = Transfer(
            (try? checked.get()) ?? request,
            redirectLimit: redirectLimit,
            lease: lease,
            advisor: advisor,
            configure: configure,
            sink: sink
        )
        transfer.handle { machine in
            switch checked {
            case .success: machine.start()
            case .failure(let error): machine.abort(with: error)
            }
        }
        return transfer
    }

    /// Begins a transfer with the configuration of a session that the user made, which may have been invalidated since.
    /// Its delegate, if it has one, decides about redirects and challenges.
    package static func start(
        _ request: TransferRequest,
        on session: URLSession,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil,
        sink: any TransferSink
    ) -> Transfer {
        start(
            request,
            on: CarrierLease(for: session),
            advisor: SessionDelegateAdvisor(session),
            configure: configure,
            sink: sink
        )
    }

    /// Ends the transfer with `URLError.cancelled` and the failing URL, unless it has ended. Returns without waiting.
    package func cancel() {
        handle { $0.cancel() }
    }

    /// Ends the transfer with `error`, unless it has ended.
    package func abort(with error: any Error) {
        handle { $0.abort(with: error) }
    }

    /// Feeds one event to the machine and performs what it asks for.
    func handle(_ event: (inout TransferStateMachine) -> [TransferStateMachine.Action]) {
        let mustEmptyOutbox = state.withLock { state in
            state.outbox += event(&state.machine)
            guard !state.outbox.isEmpty, !state.isEmptyingOutbox else { return false }
            state.isEmptyingOutbox = true
            return true
        }
        guard mustEmptyOutbox else { return }
        while let actions = nextActions() {
            actions.forEach(perform)
        }
    }

    private func nextActions() -> [TransferStateMachine.Action]? {
        state.withLock { state in
            guard !state.outbox.isEmpty else {
                state.isEmptyingOutbox = false
                return nil
            }
            defer { state.outbox = [] }
            return state.outbox
        }
    }
}
