public import DeferredHTTP

extension HTTPRequest {
    /// A name that separates the stored responses to this request from those to requests with another name, or with
    /// none: for users of one process whose responses differ although their requests look the same. Names are compared by
    /// their bytes.
    public var cachePartition: String? {
        get { self[CachePartitionOption.self] }
        set { self[CachePartitionOption.self] = newValue }
    }
}

private enum CachePartitionOption: HTTPRequestOption {
    static let defaultValue: String? = nil
}
