#include "graph/tensor/object.h"

#include <vector>

namespace tenon {

// Lists may hold lists to any depth: what an object's destructor lets go of is destroyed after it,
// not inside of it.
void Object::Destroy() {
  thread_local std::vector<Object*> pending;
  thread_local bool busy = false;
  pending.push_back(this);
  if (busy) return;
  busy = true;
  while (!pending.empty()) {
    Object* const next = pending.back();
    pending.pop_back();
    delete next;
  }
  busy = false;
}

}  // namespace tenon
