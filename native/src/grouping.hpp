// Groups rows of integer codes by their generalized codes.
//
// A row holds one code per attribute; `maps[a][level][code]` is the coarser code of attribute `a` at a level.
// The generalized codes of a row are packed into one 64-bit key. Small key spaces are counted in an array,
// large ones in a hash table, and key spaces above 64 bits in stages. Groups are numbered by first appearance,
// so the result does not depend on the method.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "key_table.hpp"

namespace kohorte {

struct Grouping {
  std::vector<Code> ids;              // the group of every row
  std::vector<Code> representatives;  // the first row of every group
  std::vector<Count> sizes;           // the summed weights of every group
};

// Rows of packed codes. Only a Grouper creates them, so their codes are always within its maps.
class Rows {
 public:
  std::size_t size() const { return size_; }

  // The selected rows, in the given order.
  Rows take(std::span<const Code> selected) const {
    Rows taken(selected.size(), width_, owner_);
    Code* target = taken.cells_.data();
    for (Code row : selected) {
      if (row >= size_) throw std::invalid_argument("no such row");
      target = std::copy_n(cells_.data() + row * width_, width_, target);
    }
    return taken;
  }

 private:
  friend class Grouper;
  Rows(std::size_t size, std::size_t width, std::uint64_t owner)
      : size_(size), width_(width), owner_(owner), cells_(size * width, 0) {}

  std::size_t size_;
  std::size_t width_;
  std::uint64_t owner_;  // the number of the Grouper that made them
  std::vector<Code> cells_;
};

// The level maps of all attributes, and the scratch memory of the threads that group with them.
//
// Attributes with few codes share one column ("pack"), so that a row is a handful of numbers and its key the sum of a
// handful of table look-ups.
class Grouper {
 public:
  using Maps = std::vector<std::vector<std::vector<Code>>>;  // [attribute][level][code]

  explicit Grouper(Maps maps) : maps_(std::move(maps)) {
    for (const auto& levels : maps_) {
      std::vector<Key> sizes;
      for (const auto& map : levels) {
        if (map.size() != levels.front().size()) throw std::invalid_argument("maps of unequal length");
        Code largest = 0;
        for (Code code : map) largest = std::max(largest, code);
        sizes.push_back(static_cast<Key>(largest) + 1);
      }
      cardinalities_.push_back(std::move(sizes));
    }
    make_packs();
  }

  std::size_t attributes() const { return maps_.size(); }

  // Turns codes (row-major) into rows, and back.
  Rows pack(std::span<const Code> codes) const {
    const std::size_t width = maps_.size();
    if (width == 0 || codes.size() % width != 0) throw std::invalid_argument("not whole rows");
    Rows rows(codes.size() / width, packs_.size(), number_);
    const Code* row = codes.data();
    Code* cell = rows.cells_.data();
    for (std::size_t i = 0; i < rows.size_; ++i, row += width) {
      for (const auto& pack : packs_) {
        for (std::size_t a : pack) {
          if (row[a] >= domain(a)) throw std::invalid_argument("a code without a map");
          *cell = *cell * static_cast<Code>(domain(a)) + row[a];
        }
        ++cell;
      }
    }
    return rows;
  }

  std::vector<Code> unpack(const Rows& rows) const {
    check_rows(rows);
    const std::size_t width = maps_.size();
    std::vector<Code> codes(rows.size_ * width);
    Code* row = codes.data();
    const Code* cell = rows.cells_.data();
    for (std::size_t i = 0; i < rows.size_; ++i, row += width) {
      for (const auto& pack : packs_) {
        Code rest = *cell++;
        for (std::size_t k = pack.size(); k-- > 0;) {
          const std::size_t a = pack[k];
          row[a] = rest % static_cast<Code>(domain(a));
          rest /= static_cast<Code>(domain(a));
        }
      }
    }
    return codes;
  }

  // Groups rows (one weight each) by their codes at the given levels; `want_ids` fills Grouping::ids.
  Grouping group(const Rows& rows, std::span<const Count> weights, std::span<const std::uint32_t> levels,
                 bool want_ids) {
    check(rows, weights, levels);
    const std::span<const Code> packed = rows.cells_;
    Lease lease(*this);
    Grouping result;
    std::size_t pack = 0;
    bool first = true;
    do {  // one stage, unless the key space does not fit into 64 bits
      pack = stage(packed, weights, levels, pack, first, want_ids, *lease.scratch, result);
      first = false;
    } while (pack < packs_.size());
    return result;
  }

  // The codes of one attribute.
  std::vector<Code> values(const Rows& rows, std::size_t attribute) {
    check_rows(rows);
    const Decoder value_of = decoder(attribute);
    std::vector<Code> found(rows.size_);
    const Code* row = rows.cells_.data();
    for (std::size_t i = 0; i < rows.size_; ++i, row += rows.width_) found[i] = value_of(row);
    return found;
  }

  // How many codes an attribute has.
  std::size_t domain(std::size_t attribute) const { return maps_[attribute].front().size(); }

 private:
  static constexpr Code kNone = std::numeric_limits<Code>::max();
  static constexpr Key kPackSize = 4096;
  static constexpr std::size_t kBlock = 512;
  static constexpr std::size_t kAhead = 16;
  static constexpr Key kTinySpace = 1024;
  static constexpr std::size_t kLanes = 4;

  // The contribution of every packed code to the key of its row, per pack.
  template <typename Part>
  struct Contributions {
    std::vector<std::vector<Part>> tables;
    std::vector<Part> spare;
  };

  struct Scratch {
    KeyTable table;
    Contributions<std::uint32_t> narrow;  // if keys fit into 32 bits: half the memory
    Contributions<Key> wide;
    std::vector<Count> sizes;
    std::vector<Code> representatives;
    std::vector<Count> sums;
    std::vector<Code> first;
    std::vector<std::pair<Code, Code>> found;
  };

  template <typename Part>
  struct Lookup {
    std::size_t pack = 0;
    const Part* contributions = nullptr;
  };

  // Scratch memory borrowed for one call, so that several threads may group at the same time.
  struct Lease {
    explicit Lease(Grouper& owner) : owner_(owner) {
      std::scoped_lock lock(owner_.mutex_);
      if (!owner_.idle_.empty()) {
        scratch = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      } else {
        scratch = std::make_unique<Scratch>();
      }
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      std::scoped_lock lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(scratch));
    }
    std::unique_ptr<Scratch> scratch;

   private:
    Grouper& owner_;
  };

  // Reads the code of one attribute from a packed row.
  struct Decoder {
    std::size_t pack;
    const Code* values;

    Code operator()(const Code* row) const { return values[row[pack]]; }
  };

  Decoder decoder(std::size_t attribute) {
    std::scoped_lock lock(mutex_);
    decoded_.resize(maps_.size());
    std::size_t p = 0;
    while (std::find(packs_[p].begin(), packs_[p].end(), attribute) == packs_[p].end()) ++p;
    auto& values = decoded_[attribute];
    if (values.empty()) {
      std::size_t size = 1;
      std::size_t divisor = 1;
      bool before = true;
      for (std::size_t a : packs_[p]) {
        size *= domain(a);
        if (!before) divisor *= domain(a);
        if (a == attribute) before = false;
      }
      std::vector<Code> decoded(size);
      for (std::size_t cell = 0; cell < size; ++cell) {
        decoded[cell] = static_cast<Code>(cell / divisor % domain(attribute));
      }
      values = std::move(decoded);
    }
    return {p, values.data()};
  }

  // Largest domains first, each into the first pack that has room.
  void make_packs() {
    std::vector<std::size_t> order(maps_.size());
    for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t one, std::size_t other) { return domain(one) > domain(other); });
    std::vector<Key> sizes;
    for (std::size_t a : order) {
      const Key length = std::max<Key>(1, domain(a));
      std::size_t p = 0;
      while (p < packs_.size() && sizes[p] * length > kPackSize) ++p;
      if (p == packs_.size()) {
        packs_.emplace_back();
        sizes.push_back(1);
      }
      packs_[p].push_back(a);
      sizes[p] *= length;
    }
  }

  void check_rows(const Rows& rows) const {
    if (rows.owner_ != number_) throw std::invalid_argument("rows of another table");
  }

  void check(const Rows& rows, std::span<const Count> weights, std::span<const std::uint32_t> levels) const {
    check_rows(rows);
    if (levels.size() != maps_.size()) throw std::invalid_argument("one level per attribute, please");
    if (rows.size_ != weights.size()) throw std::invalid_argument("rows and weights differ in number");
    if (weights.size() >= std::numeric_limits<Code>::max()) throw std::invalid_argument("too many rows");
    for (std::size_t a = 0; a < levels.size(); ++a) {
      if (levels[a] >= maps_[a].size()) throw std::invalid_argument("no such level");
    }
  }

  // Takes as many packs as fit into a 64-bit key, beginning with `pack`, on top of the groups found so far.
  std::size_t stage(std::span<const Code> packed, std::span<const Count> weights,
                    std::span<const std::uint32_t> levels, std::size_t pack, bool first, bool want_ids,
                    Scratch& scratch, Grouping& result) {
    const std::size_t begin = pack;
    Key space = first ? 1 : std::max<Key>(1, result.sizes.size());
    for (; pack < packs_.size(); ++pack) {
      const Key cardinality = cardinality_of(pack, levels);
      if (space > std::numeric_limits<Key>::max() / cardinality) break;
      space *= cardinality;
    }
    const bool with_ids = want_ids || pack < packs_.size();
    const Stage job{packed, weights, levels, begin, pack, space, first, with_ids};
    if (space <= std::numeric_limits<std::uint32_t>::max()) {
      number(job, scratch.narrow, scratch, result);
    } else {
      number(job, scratch.wide, scratch, result);
    }
    return pack;
  }

  // Packs `begin` to `end` of all rows, and how many keys they have.
  struct Stage {
    std::span<const Code> packed;
    std::span<const Count> weights;
    std::span<const std::uint32_t> levels;
    std::size_t begin;
    std::size_t end;
    Key space;
    bool first;
    bool with_ids;
  };

  Key cardinality_of(std::size_t pack, std::span<const std::uint32_t> levels) const {
    Key cardinality = 1;
    for (std::size_t a : packs_[pack]) cardinality *= cardinalities_[a][levels[a]];
    return cardinality;
  }

  template <typename Part>
  std::vector<Lookup<Part>> lookups(const Stage& job, Contributions<Part>& contributions,
                                    const Grouping& before) const {
    std::vector<Lookup<Part>> found;
    contributions.tables.resize(packs_.size());
    Key stride = job.first ? 1 : std::max<Key>(1, before.sizes.size());
    for (std::size_t pack = job.begin; pack < job.end; ++pack) {
      const Key cardinality = cardinality_of(pack, job.levels);
      if (cardinality == 1) continue;
      fill_contributions(pack, job.levels, stride, contributions);
      found.push_back({pack, contributions.tables[pack].data()});
      stride *= cardinality;
    }
    return found;
  }

  template <typename Part>
  void fill_contributions(std::size_t pack, std::span<const std::uint32_t> levels, Key stride,
                          Contributions<Part>& contributions) const {
    auto& table = contributions.tables[pack];
    auto& wider = contributions.spare;
    table.assign(1, 0);
    for (std::size_t a : packs_[pack]) {
      const auto& map = maps_[a][levels[a]];
      wider.resize(table.size() * map.size());
      std::size_t place = 0;
      for (Part begun : table) {
        for (Code code : map) wider[place++] = static_cast<Part>(begun + stride * code);
      }
      table.swap(wider);
      stride *= cardinalities_[a][levels[a]];
    }
  }

  template <typename Part>
  void number(const Stage& job, Contributions<Part>& contributions, Scratch& scratch, Grouping& result) const {
    const std::vector<Lookup<Part>> found = lookups(job, contributions, result);
    const std::vector<Code> previous = std::move(result.ids);
    const std::size_t rows = job.weights.size();
    result.ids.clear();
    result.ids.resize(job.with_ids ? rows : 0);
    if (scratch.sizes.size() < rows) {
      scratch.sizes.resize(rows);
      scratch.representatives.resize(rows);
    }
    const Code* before = job.first ? nullptr : previous.data();
    Code* ids = job.with_ids ? result.ids.data() : nullptr;
    const auto run = [&]<std::size_t Packs>() {
      const KeyMaker<Packs, Part> keys(found, packs_.size());
      if (job.space <= kTinySpace && job.first && !job.with_ids) return tally(job, keys, scratch);
      scratch.table.reset(job.space, rows);
      if (scratch.table.direct()) return loop(job, keys, before, ids, scratch.table.direct_view(), scratch);
      return loop(job, keys, before, ids, scratch.table.hashed_view(), scratch);
    };
    Code groups = 0;
    switch (found.size()) {
      case 1: groups = run.template operator()<1>(); break;
      case 2: groups = run.template operator()<2>(); break;
      case 3: groups = run.template operator()<3>(); break;
      case 4: groups = run.template operator()<4>(); break;
      case 5: groups = run.template operator()<5>(); break;
      case 6: groups = run.template operator()<6>(); break;
      default: groups = run.template operator()<0>();
    }
    result.representatives.assign(scratch.representatives.begin(), scratch.representatives.begin() + groups);
    result.sizes.assign(scratch.sizes.begin(), scratch.sizes.begin() + groups);
  }

  // Makes the keys of a block of rows; `Packs` is the number of look-ups a row, 0 where it is only known at run time.
  template <std::size_t Packs, typename Part>
  class KeyMaker {
   public:
    using Block = std::array<Part, kBlock>;

    KeyMaker(const std::vector<Lookup<Part>>& lookups, std::size_t width) : lookups_(lookups), width_(width) {
      if constexpr (Packs > 0) std::copy(lookups.begin(), lookups.end(), fixed_.begin());
    }

    void fill(Block& keys, const Code* row, const Code* before, std::size_t length) const {
      const auto fixed = fixed_;  // a local copy, which no store can change
      const Lookup<Part>* look = Packs == 0 ? lookups_.data() : fixed.data();
      const std::size_t count = Packs == 0 ? lookups_.size() : Packs;
      const std::size_t width = width_;
      for (std::size_t i = 0; i < length; ++i, row += width) {
        Part key = before == nullptr ? 0 : before[i];
        for (std::size_t k = 0; k < count; ++k) key += look[k].contributions[row[look[k].pack]];
        keys[i] = key;
      }
    }

    std::size_t width() const { return width_; }

   private:
    const std::vector<Lookup<Part>>& lookups_;
    std::size_t width_;
    std::array<Lookup<Part>, Packs == 0 ? 1 : Packs> fixed_{};
  };

  // For few keys: rows of one group follow each other closely, and each would wait for the sum written by the previous
  // one. So there are several sums per key, used in turn. Rows are read backwards, so that the last row stored for a
  // key is its first row. Returns the number of groups.
  template <typename Keys>
  Code tally(const Stage& job, const Keys& maker, Scratch& scratch) const {
    const std::size_t space = static_cast<std::size_t>(job.space);
    const std::size_t rows = job.weights.size();
    scratch.sums.assign(space * kLanes, 0);
    scratch.first.assign(space, kNone);
    Count* sums = scratch.sums.data();
    Code* first = scratch.first.data();
    typename Keys::Block keys;
    for (std::size_t stop = rows; stop > 0;) {
      const std::size_t length = stop % kBlock == 0 ? kBlock : stop % kBlock;
      const std::size_t start = stop - length;
      maker.fill(keys, job.packed.data() + start * maker.width(), nullptr, length);
      const Count* weight = job.weights.data() + start;
      for (std::size_t i = length; i-- > 0;) {
        first[keys[i]] = static_cast<Code>(start + i);
        sums[keys[i] * kLanes + i % kLanes] += weight[i];
      }
      stop = start;
    }
    auto& found = scratch.found;
    found.clear();
    for (std::size_t key = 0; key < space; ++key) {
      if (first[key] != kNone) found.emplace_back(first[key], static_cast<Code>(key));
    }
    std::sort(found.begin(), found.end());
    for (std::size_t group = 0; group < found.size(); ++group) {
      const Count* own = sums + found[group].second * kLanes;
      scratch.representatives[group] = found[group].first;
      scratch.sizes[group] = std::accumulate(own, own + kLanes, Count{0});
    }
    return static_cast<Code>(found.size());
  }

  // The hot loop. Returns the number of groups. Keys are made a block at a time, so that a mispredicted branch in the
  // table does not delay them; everything is copied to locals first, since the compiler cannot know that the stores do
  // not touch it.
  template <typename Keys, typename Table>
  Code loop(const Stage& job, const Keys& maker, const Code* before, Code* ids, Table table, Scratch& scratch) const {
    const std::size_t rows = job.weights.size();
    const Count* weight = job.weights.data();
    Count* sizes = scratch.sizes.data();
    Code* representatives = scratch.representatives.data();
    typename Keys::Block keys;
    Code next = 0;
    for (std::size_t start = 0; start < rows; start += kBlock) {
      const std::size_t length = std::min(kBlock, rows - start);
      maker.fill(keys, job.packed.data() + start * maker.width(), before == nullptr ? nullptr : before + start, length);
      for (std::size_t i = 0; i < length; ++i) {
        if constexpr (Table::kPrefetch) {
          if (i + kAhead < length) table.prefetch(keys[i + kAhead]);
        }
        const Code id = table.find(keys[i], next);
        if (id == next) {
          representatives[next] = static_cast<Code>(start + i);
          sizes[next++] = weight[start + i];
        } else {
          sizes[id] += weight[start + i];
        }
        if (ids != nullptr) ids[start + i] = id;
      }
    }
    return next;
  }

  Maps maps_;
  std::vector<std::vector<Key>> cardinalities_;
  std::vector<std::vector<std::size_t>> packs_;
  std::vector<std::vector<Code>> decoded_;  // the code of an attribute in each packed code; made when first used
  inline static std::atomic<std::uint64_t> made_{0};
  std::uint64_t number_ = ++made_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace kohorte
