/// Distinguishes chains that share a loader: every link gets a new identity when its next loader is set.
final class ChainIdentity: Sendable {}
