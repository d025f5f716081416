/// The name by which caches tell apart the users of one process. Here, since a client's cache is to see it, too.
package enum CachePartitionOption: HTTPRequestOption {
    package static let defaultValue: String? = nil
}
