#include "graph/functions/function_fields.h"

#include "graph/wire/wire.h"

namespace tenon {

GradientPair ParseGradientPair(std::string_view wire) {
  GradientPair pair;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == kPairFirst) pair.first = f.bytes;
    if (f.number == kPairSecond) pair.second = f.bytes;
  }
  return pair;
}

}  // namespace tenon
