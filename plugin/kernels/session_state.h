// What kernels keep beyond one run, in the session that runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "plugin/kernels/file_access.h"
#include "plugin/kernels/resource.h"

namespace tenon {

// State that one node keeps over the runs of a session: a random generator, a counter.
class NodeState {
 public:
  virtual ~NodeState() = default;
};

// The part of a session that kernels may use. The session owns it; it outlives every plan.
// Thread-safe.
class SessionState {
 public:
  SessionState() : resources_(own_resources_) {}
  virtual ~SessionState() = default;
  // The seed for random generators with both of their own seeds 0. If this is 0 too, a generator
  // takes a seed from the system.
  virtual uint64_t seed() const { return 0; }
  // The files that kernels may read and write.
  virtual FileAccess files() const { return FileAccess(); }
  // The state for `key`, made by `make` at first use. A key has three parts: the name of the node,
  // a line end, and a text for the kind of the state and every value that `make` puts into it
  // ("generator 1 2"). The name alone does not do: another run of the session may have another node
  // of that name, from the body of another function. Calls `make` under a lock: `make` must not
  // call this function or GetPacked. If `make` returns null, so does this function, and the next
  // call for the key calls `make` again.
  virtual std::shared_ptr<NodeState> GetNodeState(
      std::string_view key, const std::function<std::shared_ptr<NodeState>()>& make) = 0;
  // Variables, tables and queues, which have a name. They live as long as the session unless they
  // are removed, and longer while a tensor shares them.
  ResourceManager& resources() { return resources_; }
  // A value that `make` derives from a constant (packed weights). All plans share it. The value is
  // kept for the pair of `constant`, the address of the constant's data, and `key`: the data must
  // stay allocated as long as this object, as a later constant at that address would get the value.
  // Calls `make` without a lock, perhaps on several threads at once; every caller gets the result
  // that was stored first. If `make` returns null, so does this function; nothing is kept then.
  virtual std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) = 0;

 protected:
  // With resources of another session, which must outlive this object.
  explicit SessionState(ResourceManager& resources) : resources_(resources) {}

 private:
  ResourceManager own_resources_;
  ResourceManager& resources_;
};

}  // namespace tenon
