#pragma once

#include <utility>

namespace recoil {

/// Move-only owner of a C library object. `Traits` gives `using Handle`, `static Handle null()` and
/// `static void release(Handle&) noexcept`. Same size as the raw handle.
template <class Traits>
class UniqueHandle {
public:
  using Handle = typename Traits::Handle;

  UniqueHandle() noexcept : handle_(Traits::null()) {}
  /// Takes ownership of `handle`.
  static UniqueHandle adopt(Handle handle) noexcept {
    UniqueHandle owner;
    owner.handle_ = handle;
    return owner;
  }
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, Traits::null())) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    UniqueHandle moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  /// Lends the raw handle.
  Handle get() const noexcept { return handle_; }
  /// Releases what is held and gives the address for a C function that creates the object.
  Handle* put() noexcept {
    reset();
    return &handle_;
  }
  /// Forgets the object without freeing it: for one that its library has left broken.
  void abandon() noexcept { handle_ = Traits::null(); }
  /// Releases the object now.
  void reset() noexcept {
    if (handle_ != Traits::null()) {
      Traits::release(handle_);
      handle_ = Traits::null();
    }
  }
  explicit operator bool() const noexcept { return handle_ != Traits::null(); }

private:
  Handle handle_;
};

} // namespace recoil
