// Lists of tensors and optionals. The gradient of a list is a list of the gradients of its
// elements; elements that nobody has set count as zeros. The gradient of an optional is an
// optional.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

Value ElementShape(Value list) {
  return Op("TensorListElementShape", {list}, {{"shape_type", attr::Type(DataType::kInt32)}});
}

Value Length(Value list) { return Op("TensorListLength", {list}); }

// The shape of one element of a tensor that holds elements along axis 0.
Value RowShape(Value tensor) { return Part(ShapeOf(tensor), 1, -1); }

NewAttrs ElementType(Value tensor) { return {{"element_dtype", attr::Type(tensor.dtype())}}; }

// A list as long as `like` without elements.
Value ReserveLike(Value like, DataType type) {
  return Op("TensorListReserve", {ElementShape(like), Length(like)},
            {{"element_dtype", attr::Type(type)}});
}

Value OfPushBackList(GradientScope& s, Value* element) {
  const NodeId pop =
      s.builder().AddNode("TensorListPopBack", {s.dy(), ShapeOf(s.x(1))}, ElementType(s.x(1)));
  *element = s.builder().At(pop, 1);
  return s.builder().At(pop, 0);
}

void PushBackGradient(GradientScope& s) {
  Value element;
  s.Set(0, OfPushBackList(s, &element));
  s.Set(1, element);
}

// Where only the element matters, zeros stand for the elements that are left in the list.
Value OfPopBack(GradientScope& s) { return Op("TensorListPushBack", {s.dy(0), s.dy(1)}); }

Value OfStack(GradientScope& s) { return Op("TensorListFromTensor", {s.dy(), RowShape(s.dy())}); }

Value OfFromTensor(GradientScope& s) {
  NewAttrs attrs = ElementType(s.x());
  attrs.push_back({"num_elements", attr::Int(s.x().rank() > 0 ? s.x().shape().dim(0) : -1)});
  return Op("TensorListStack", {s.dy(), RowShape(s.x())}, std::move(attrs));
}

Value OfConcat(GradientScope& s) {
  return Op("TensorListSplit", {s.dy(0), ElementShape(s.x()), s.y(1)});
}

Value OfSplit(GradientScope& s) {
  const Value shape = Concat({s.builder().Ints({-1}), RowShape(s.x())}, 0);
  return Op("TensorListConcatV2", {s.dy(), shape, s.x(2)}, ElementType(s.x()));
}

Value OfGetItem(GradientScope& s) {
  return Op("TensorListSetItem", {ReserveLike(s.x(), s.dy().dtype()), s.x(1), s.dy()});
}

void SetItemGradient(GradientScope& s) {
  const Value item = s.x(2);
  Value list = Op("TensorListSetItem", {s.dy(), s.x(1), ZeroGradientOf(item)});
  if (s.Bool("resize_if_index_out_of_bounds"))
    list = Op("TensorListResize", {list, Length(s.x(0))});
  s.Set(0, list);
  s.Set(2, Op("TensorListGetItem", {s.dy(), s.x(1), ShapeOf(item)}, ElementType(item)));
}

Value OfResize(GradientScope& s) { return Op("TensorListResize", {s.dy(), Length(s.x())}); }

Value OfGather(GradientScope& s) {
  return Op("TensorListScatterIntoExistingList",
            {ReserveLike(s.x(), s.dy().dtype()), s.dy(), s.x(1)});
}

Value GatheredItems(GradientScope& s, Value tensor, Value indices) {
  return Op("TensorListGather", {s.dy(), indices, RowShape(tensor)}, ElementType(tensor));
}

Value OfScatter(GradientScope& s) { return GatheredItems(s, s.x(0), s.x(1)); }

void ScatterIntoExistingListGradient(GradientScope& s) {
  const Value tensor = s.x(1), indices = s.x(2);
  s.Set(0, Op("TensorListScatterIntoExistingList", {s.dy(), ZeroGradientOf(tensor), indices}));
  s.Set(1, GatheredItems(s, tensor, indices));
}

// --- Optionals.

void OptionalFromValueGradient(GradientScope& s) {
  std::vector<DataType> types;
  std::vector<PartialShape> shapes;
  for (const Value& x : s.xs()) {
    types.push_back(x.dtype());
    shapes.push_back(x.shape());
  }
  const NodeId values = s.builder().AddNode(
      "OptionalGetValue", {s.dy()},
      {{"output_types", attr::TypeList(types)}, {"output_shapes", attr::ShapeList(shapes)}});
  for (int i = 0; i < s.num_inputs(); ++i) {
    if (CarriesGradient(s.x(i).dtype())) s.Set(i, s.builder().At(values, i));
  }
}

Value OfOptionalGetValue(GradientScope& s) {
  std::vector<Value> values;
  for (int i = 0; i < s.num_outputs(); ++i)
    values.push_back(CarriesGradient(s.y(i).dtype()) ? s.dy(i) : ZerosLike(s.y(i)));
  return s.builder().Op("OptionalFromValue", values);
}

constexpr GradientRow kContainers[] = {
    {"EmptyTensorList", nullptr},
    {"OptionalFromValue", OptionalFromValueGradient},
    {"OptionalGetValue", Unary<OfOptionalGetValue>},
    {"OptionalHasValue", nullptr},
    {"OptionalNone", nullptr},
    {"TensorListConcat", Unary<OfConcat>},
    {"TensorListConcatLists", nullptr},
    {"TensorListConcatV2", Unary<OfConcat>},
    {"TensorListElementShape", nullptr},
    {"TensorListFromTensor", Unary<OfFromTensor>},
    {"TensorListGather", Unary<OfGather>},
    {"TensorListGetItem", Unary<OfGetItem>},
    {"TensorListLength", nullptr},
    {"TensorListPopBack", Unary<OfPopBack>},
    {"TensorListPushBack", PushBackGradient},
    {"TensorListPushBackBatch", nullptr},
    {"TensorListReserve", nullptr},
    {"TensorListResize", Unary<OfResize>},
    {"TensorListScatter", Unary<OfScatter>},
    {"TensorListScatterIntoExistingList", ScatterIntoExistingListGradient},
    {"TensorListScatterV2", Unary<OfScatter>},
    {"TensorListSetItem", SetItemGradient},
    {"TensorListSplit", Unary<OfSplit>},
    {"TensorListStack", Unary<OfStack>},
};

}  // namespace

absl::Span<const GradientRow> Containers() { return kContainers; }

}  // namespace tenon::gradients
