internal import DeferredCore
public import Foundation

extension OAuth {
    /// The tokens of somebody who has signed in.
    public struct Tokens: Codable, Sendable, Hashable {
        /// The access token.
        public var access: String

        /// The refresh token, if there is one.
        public var refresh: String?

        /// The scheme of the access token, such as `Bearer`.
        public var type: String

        /// The time at which the access token expires; `nil` if the server doesn't say.
        public var expiry: Date?

        /// The time at which the access token was requested; `nil` if it isn't known.
        public var issued: Date?

        /// Creates tokens.
        public init(
            access: String,
            refresh: String? = nil,
            type: String = "Bearer",
            expiry: Date? = nil,
            issued: Date? = nil
        ) {
            self.access = access
            self.refresh = refresh
            self.type = type
            self.expiry = expiry
            self.issued = issued
        }

        /// Returns the time from which the access token is to be renewed. A leeway beyond the lifetime would have each
        /// request renew it.
        func renewal(_ leeway: Duration) -> Date? {
            guard let expiry else { return nil }
            let lifetime = issued.map { max(0, expiry.timeIntervalSince($0)) } ?? .infinity
            return expiry - min(leeway / .seconds(1), lifetime / 5)
        }
    }

    /// Keeps tokens, for example in a keychain or a file. See also ``FileStorage``.
    public protocol Storage: Sendable {
        /// Returns the tokens; `nil` if nobody has signed in.
        func tokens() async throws -> Tokens?

        /// Replaces the tokens; `nil` removes them.
        func store(_ tokens: Tokens?) async throws

        /// Runs an operation that reads and replaces the tokens, while no other one runs in this way.
        ///
        /// The operation calls ``tokens()`` and ``store(_:)``, which must not wait for it. It may take as long as a
        /// request. If the Swift task is cancelled while it waits for its turn, this throws `CancellationError`.
        ///
        /// By default, operations run at once. That is enough for a storage that belongs to one ``OAuth`` in one process;
        /// for others, two renewals could send the same refresh token.
        func withExclusiveAccess<Result: Sendable>(
            _ operation: @Sendable () async throws -> Result
        ) async throws -> Result
    }

    /// Keeps tokens in memory.
    public actor MemoryStorage: Storage {
        private var stored: Tokens?
        private let section = ExclusiveSection()

        /// Creates a storage.
        public init(_ tokens: Tokens? = nil) {
            stored = tokens
        }

        /// Returns the tokens.
        public func tokens() -> Tokens? { stored }

        /// Replaces the tokens.
        public func store(_ tokens: Tokens?) { stored = tokens }

        /// Runs one operation after the other.
        public nonisolated func withExclusiveAccess<Result: Sendable>(
            _ operation: @Sendable () async throws -> Result
        ) async throws -> Result {
            try await section.run(operation)
        }
    }
}

extension OAuth.Storage {
    /// Runs the operation at once.
    public func withExclusiveAccess<Result: Sendable>(
        _ operation: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await operation()
    }
}

/// Runs asynchronous operations one after the other, in the order in which they come.
final class ExclusiveSection: Sendable {
    /// Filled when the operation that came last has ended.
    private let last = Lock(Future(value: ()))

    func run<Result: Sendable>(_ operation: @Sendable () async throws -> Result) async throws -> Result {
        let end = Deferred<Void>()
        let previous = last.withLock { last in
            defer { last = end.future }
            return last
        }
        do {
            try await previous.get()
        } catch {
            // Those that came later still wait for those that came earlier.
            previous.upon(.immediate) { end.fill() }
            throw error
        }
        defer { end.fill() }
        return try await operation()
    }
}

extension OAuth.Tokens: CustomStringConvertible, CustomReflectable {
    /// The scheme and the expiry, but no token.
    public var description: String { type + " token" + (expiry.map { ", expires \($0)" } ?? "") }

    /// No children, so that no token is revealed.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
