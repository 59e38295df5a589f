#include "graph/tensor/object.h"

#include <vector>

namespace tenon {

// Lists may hold lists to any depth, so that a destructor which destroys elements would recurse to
// that depth. The outermost Destroy of a thread deletes in a loop; the inner ones only append.
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
