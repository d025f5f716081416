internal import DeferredNetworking

/// The field `ETag` and its comparisons: RFC 9110, section 8.8.3.
struct EntityTag: Sendable, Equatable {
    /// The tag as it came, which is also how it is sent.
    let text: String

    /// - Returns: `nil` for an empty field.
    init?(_ text: String?) {
        guard let text else { return nil }
        let trimmed = FieldList.trimmed(Substring(text))
        guard !trimmed.isEmpty else { return nil }
        self.text = String(trimmed)
    }

    /// True if equal tags mean equal bytes.
    var isStrong: Bool { text.utf8.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"") }

    /// The tag without its mark of weakness.
    private var opaque: Substring { text.hasPrefix("W/") || text.hasPrefix("w/") ? text.dropFirst(2) : text[...] }

    /// Returns whether the tags are of representations that can stand for each other.
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Returns whether the tags are of the same bytes.
    func stronglyMatches(_ other: EntityTag) -> Bool { isStrong && text == other.text }

    /// Returns whether a list as in `If-None-Match` has this tag.
    func isIn(_ list: String) -> Bool {
        FieldList.members(of: list).contains { member in EntityTag(String(member)).map(weaklyMatches) ?? false }
    }
}
