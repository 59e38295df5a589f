// Calls that plug-ins owe the host, each exactly once: the done callback of an asynchronous kernel,
// what host_callback queues. They get numbers in place of addresses, which never come back: a
// second call finds nothing, and is told.
#pragma once

#include <memory>
#include <string>

namespace tenon {

// Who owes calls, for messages. Made once for many calls.
struct CallDebtor {
  std::string plugin, callback, node;
};

// The handle of a call that is owed; its meaning is `object`, which lives until the call. The
// process forgets none. Thread-safe, as all here.
void* PendingCall(void* object, std::shared_ptr<const CallDebtor> debtor);

// The object, for the first call. Null, and a warning (or a violation that is watched for), for
// another one.
void* TakePendingCall(void* handle);

// The object of a call that is no longer wanted; null if it was made.
void* DropPendingCall(void* handle);

}  // namespace tenon
