/// All of the library but its test kit.
@_exported public import DeferredCore
@_exported public import DeferredHTTP
@_exported public import DeferredNetworking
@_exported public import DeferredTask
