#include "graph/tensor/object.h"

#include <vector>

namespace tenon {

// Lists may hold lists to any depth, so that a destructor which destroys elements would recurse to
// that depth. The outermost Destroy of a thread deletes in a loop; the inner ones only append.
// The thread keeps no more than a pointer: static objects may be destroyed after what a thread
// owns.
void Object::Destroy() {
  thread_local std::vector<Object*>* outermost = nullptr;
  if (outermost != nullptr) {
    outermost->push_back(this);
    return;
  }
  std::vector<Object*> pending;
  outermost = &pending;
  for (Object* next = this; next != nullptr;) {
    delete next;
    next = nullptr;
    if (pending.empty()) break;
    next = pending.back();
    pending.pop_back();
  }
  outermost = nullptr;
}

}  // namespace tenon
