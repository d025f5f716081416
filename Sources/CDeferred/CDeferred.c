#include "CDeferred.h"

_Thread_local DeferredNesting deferred_nesting_of_thread;
