/// The umbrella module: re-exports all modules of the library except `DeferredTesting`.
@_exported public import DeferredCache
@_exported public import DeferredCore
@_exported public import DeferredHTTP
@_exported public import DeferredNetworking
@_exported public import DeferredTask
