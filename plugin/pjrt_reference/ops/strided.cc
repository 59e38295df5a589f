#include "strided.h"

#include <cstring>

namespace pjref {
namespace {

template <typename T>
void CopyRow(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) out[i * to_step] = in[i * from_step];
}

struct Sixteen {
  uint64_t half[2];
};

using RowLoop = void (*)(const char*, int64_t, char*, int64_t, int64_t);

RowLoop RowOf(size_t size) {
  switch (size) {
    case 1:
      return &CopyRow<uint8_t>;
    case 2:
      return &CopyRow<uint16_t>;
    case 4:
      return &CopyRow<uint32_t>;
    case 8:
      return &CopyRow<uint64_t>;
    default:
      return &CopyRow<Sixteen>;
  }
}

}  // namespace

void CopyStrided(const char* from, const Dims& from_steps, char* to, const Dims& to_steps,
                 const Dims& dims, size_t size) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  if (dims.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  const size_t last = dims.size() - 1;
  const RowLoop row = RowOf(size);
  const bool plain = from_steps[last] == 1 && to_steps[last] == 1;
  const Dims outer(dims.begin(), dims.end() - 1);
  Dims index(last, 0);
  const auto bytes = static_cast<int64_t>(size);
  do {
    int64_t in = 0, out = 0;
    for (size_t i = 0; i < last; ++i) {
      in += index[i] * from_steps[i];
      out += index[i] * to_steps[i];
    }
    if (plain) {
      std::memcpy(to + out * bytes, from + in * bytes, static_cast<size_t>(dims[last] * bytes));
    } else {
      row(from + in * bytes, from_steps[last], to + out * bytes, to_steps[last], dims[last]);
    }
  } while (Advance(outer, &index));
}

Array Transposed(const Array& array, const Dims& axes) {
  const Dims strides = StridesOf(array.dims());
  Dims dims, steps;
  bool same = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    dims.push_back(array.dims()[axes[i]]);
    steps.push_back(strides[axes[i]]);
    same = same && axes[i] == static_cast<int64_t>(i);
  }
  if (same) return array;
  Array out({array.element(), dims});
  CopyStrided(array.data(), steps, out.data(), StridesOf(dims), dims, ByteSize(array.element()));
  return out;
}

void Fill(const Array& value, const Array& out) {
  const int64_t count = out.count();
  CopyStrided(value.data(), {0}, out.data(), {1}, {count}, ByteSize(out.element()));
}

}  // namespace pjref
