#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

/// Finds the addresses for the connections of an engine, and the one of several that answers.
///
/// A request that needs none has nothing to do with it: libcurl asks for a name only if it has no connection to use, and
/// stops then. With the name's addresses, the request begins again. Confined to the engine's thread.
final class LibcurlConnector {
    /// A request without a connection, and the work that it waits for.
    private struct Wait {
        let transfer: LibcurlTransfer
        let hop: LibcurlHop
        let start = ContinuousClock.now
        var lookUp: Registration?
        var race: AddressRace?
    }

    private unowned let connections: LibcurlConnections
    private let poll: poll_set

    /// By the identifiers of the tasks.
    private var waits: [Int: Wait] = [:]

    init(for connections: LibcurlConnections, poll: poll_set) {
        self.connections = connections
        self.poll = poll
    }

    var nextTimer: ContinuousClock.Instant? { waits.isEmpty ? nil : waits.values.lazy.compactMap(\.race?.timer).min() }

    /// Looks up a name for a request that libcurl has stopped.
    func begin(_ transfer: LibcurlTransfer, at hop: LibcurlHop) {
        let task = transfer.task
        waits[task.identifier] = Wait(transfer: transfer, hop: hop)
        let addresses = connections.options.resolve[hop.key] ?? hop.reservedAddresses
        if let addresses { return found(.success(addresses), for: task) }
        let loop = task.loop
        switch connections.options.lookUps.addresses(of: hop.name, handler: { loop.submit(.found($0, task)) }) {
        case .known(let outcome): found(outcome, for: task)
        case .pending(let registration): waits[task.identifier]?.lookUp = registration
        }
    }

    /// Goes on with the outcome of a look-up.
    func found(_ outcome: NameLookUps.Outcome, for task: LibcurlTask) {
        guard let wait = waits[task.identifier] else { return }
        wait.transfer.lookUpTime += .now - wait.start
        switch outcome {
        case .success(let addresses) where addresses.count > 1 || addresses.contains { $0.contains("%") }:
            let race = AddressRace(to: connections.options.lookUps.inOrder(addresses), port: wait.hop.port, poll: poll)
            waits[task.identifier]?.race = race
            waits[task.identifier]?.lookUp = nil
            handle(race.proceed(), of: race, for: task.identifier)
        case .success(let addresses):
            waits[task.identifier] = nil
            connections.restart(wait.transfer, at: wait.hop, addresses.first)
        case .failure(let failure):
            waits[task.identifier] = nil
            // The environment may except the server from the proxy, by a rule that only libcurl knows.
            if !failure.isTemporary, let next = wait.transfer.nextHop() {
                if connections.options.mustLookUp(next) { return begin(wait.transfer, at: next) }
                return connections.restart(wait.transfer, at: next, nil)
            }
            connections.fail(wait.transfer, LibcurlFailure.error(wait.hop, failure, url: task.request.url))
        }
    }

    /// Forgets a request that has ended.
    func forget(_ task: LibcurlTask) {
        guard !waits.isEmpty, let wait = waits.removeValue(forKey: task.identifier) else { return }
        wait.lookUp?.cancel()
        if let race = wait.race { connections.options.lookUps.noteSilent(race.stop(isLate: task.isLate)) }
    }

    // MARK: Races

    func runTimers() {
        guard let first = nextTimer, first <= .now else { return }
        for (identifier, wait) in waits {
            if let race = wait.race, let timer = race.timer, timer <= .now {
                handle(race.proceed(), of: race, for: identifier)
            }
        }
    }

    /// Handles the end of an attempt to connect. Returns false if the socket is another's.
    func ended(_ socket: Int32) -> Bool {
        for (identifier, wait) in waits {
            guard let race = wait.race, race.owns(socket) else { continue }
            handle(race.ended(socket), of: race, for: identifier)
            return true
        }
        return false
    }

    private func handle(_ outcome: AddressRace.Outcome?, of race: AddressRace, for identifier: Int) {
        guard let outcome, let wait = waits.removeValue(forKey: identifier) else { return }
        connections.options.lookUps.noteSilent(race.stop(isLate: false))
        wait.transfer.raceTime += .now - wait.start - wait.transfer.lookUpTime
        switch outcome {
        case .won(let socket, let address): connections.restart(wait.transfer, at: wait.hop, address, socket: socket)
        case .lost(let code):
            let url = wait.transfer.task.request.url
            connections.fail(
                wait.transfer,
                LibcurlFailure.error(wait.hop, POSIXErrorCode(rawValue: code) ?? .EIO, url: url)
            )
        }
    }
}
#endif
