/// Tells chains apart that share a loader: every link gets a new one when its next loader is set.
final class ChainIdentity: Sendable {}
