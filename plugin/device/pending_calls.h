// Calls that a plug-in must make exactly once: the done callback of an asynchronous kernel, and the
// callback that host_callback queues. The plug-in gets a number as handle, not an address. Numbers
// are never used again, so that a second call finds nothing and can be reported. All functions are
// thread-safe.
#pragma once

#include <memory>
#include <string>

namespace tenon {

// The plug-in, callback and node that must make a call, for messages. Many calls share one object.
struct ExpectedCaller {
  std::string plugin, callback, node;
};

// Makes a handle for one call that the plug-in must make. `object`, which is not null, must live
// until the call is taken or dropped.
void* PendingCall(void* object, std::shared_ptr<const ExpectedCaller> caller);

// Takes the call: returns the object for the first call with the handle. For any further call, for
// a call after DropPendingCall and for a handle that was never made it returns null and warns (in
// strict mode reports a violation).
void* TakePendingCall(void* handle);

// Gives the call up: returns the object, or null if the plug-in has already called.
void* DropPendingCall(void* handle);

}  // namespace tenon
