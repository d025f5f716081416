/// The type of a stream's properties: an object in swift-corelibs-foundation, anything on Apple's platforms.
#if canImport(Darwin)
typealias StreamProperty = Any
#else
typealias StreamProperty = AnyObject
#endif
