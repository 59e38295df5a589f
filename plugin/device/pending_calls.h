// Calls that a plug-in must make exactly once: the done callback of an asynchronous kernel, and the
// callback that host_callback queues. The plug-in gets a number as handle, not an address. Numbers
// are never used again, so that a second call finds nothing and can be reported. All functions are
// thread-safe.
#pragma once

#include <memory>
#include <string>

namespace tenon {

// The plug-in, callback and node that must make a call, for messages. `node` may be empty. Many
// calls share one ExpectedCaller.
struct ExpectedCaller {
  std::string plugin, callback, node;
};

// Makes a handle for one call that the plug-in must make. `object`, which is not null, must live
// until the call is taken or dropped. Only one of the functions below returns it, and once.
// `caller` may be null: messages then do not name one.
void* PendingCall(void* object, std::shared_ptr<const ExpectedCaller> caller);

// Takes the call: returns the object for the first call with the handle. For any further call, for
// a call after DropPendingCall and for a handle that was never made it returns null and warns (in
// strict mode reports a violation).
void* TakePendingCall(void* handle);

// Gives the call up: returns the object. Returns null, without a warning, if the call was taken or
// dropped before or the handle was never made.
void* DropPendingCall(void* handle);

}  // namespace tenon
