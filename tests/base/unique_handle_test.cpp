#include "recoil/base/unique_handle.hpp"

#include <set>

#include <gtest/gtest.h>

namespace recoil::unique_handle_test {

namespace {

// A C library whose objects are numbers.
std::set<int> alive;
int next_object = 1;
int create(int* object) {
  *object = next_object++;
  alive.insert(*object);
  return 0;
}

struct ObjectTraits {
  using Handle = int;
  static Handle null() { return 0; }
  static void release(Handle& object) noexcept { EXPECT_EQ(alive.erase(object), 1u) << "released twice"; }
};
using Object = UniqueHandle<ObjectTraits>;

static_assert(sizeof(Object) == sizeof(int));
static_assert(!std::is_copy_constructible_v<Object> && !std::is_copy_assignable_v<Object>);
static_assert(std::is_nothrow_move_constructible_v<Object> && std::is_nothrow_move_assignable_v<Object>);

} // namespace

TEST(UniqueHandle, releases_once) {
  {
    Object object;
    EXPECT_FALSE(object);
    create(object.put());
    EXPECT_TRUE(object);
    EXPECT_EQ(alive.size(), 1u);
    create(object.put());
    EXPECT_EQ(alive.size(), 1u) << "put must release what was held";
  }
  EXPECT_TRUE(alive.empty());
}

TEST(UniqueHandle, moves) {
  Object a, b;
  create(a.put());
  create(b.put());
  const int held = a.get();
  b = std::move(a);
  EXPECT_EQ(b.get(), held);
  EXPECT_FALSE(a);
  EXPECT_EQ(alive.size(), 1u);
  Object& same = b;
  b = std::move(same);
  EXPECT_EQ(b.get(), held) << "self-move must keep the object";
  Object c(std::move(b));
  EXPECT_EQ(c.get(), held);
  c.reset();
  EXPECT_TRUE(alive.empty());
}

TEST(UniqueHandle, adopts) {
  int raw = 0;
  create(&raw);
  { const auto owner = Object::adopt(raw); }
  EXPECT_TRUE(alive.empty());
}

} // namespace recoil::unique_handle_test
