import DeferredHTTP

/// Returns `link --> next`, in comments that an arrow would end.
func joined(_ link: some HTTPLink, _ next: some HTTPLoader) -> HTTPChain { link --> next }
