// Groups of all rows of a table, improved neighbourhood by neighbourhood, by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "least_loss/block.hpp"

namespace kohorte {

class Regrouper {
 public:
  // How many groups a neighbourhood has at most. Our choice.
  static constexpr std::size_t kGroups = 512;

  explicit Regrouper(Grouped table) : table_(std::move(table)) { table_.check(); }

  // What each group costs. `group_of` tells the group of each row, or `Axis::kNone`.
  std::vector<Cost> costs(std::span<const Code> group_of) const {
    Pool pool(table_);
    std::vector<Cost> found;
    for (const auto& group : lists(group_of)) found.push_back(pool.cost_of(group));
    return found;
  }

  // One round: divides the groups into neighbourhoods, in another way for each seed, and improves each of them, as long
  // as there is time. Up to `may_leave` rows are left out. The answer does not depend on the number of threads.
  std::vector<Code> round(std::span<const Code> group_of, const Effort& effort, std::size_t may_leave,
                          std::uint64_t seed, std::size_t threads, double seconds) const {
    if (effort.groups < 2) throw std::invalid_argument("a pool of less than two groups");
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const RowLists groups = lists(group_of);
    Random random(seed);
    std::vector<RowLists> blocks = neighbourhoods(groups, random);
    std::vector<std::uint64_t> seeds;
    for (std::size_t b = 0; b < blocks.size(); ++b) seeds.push_back(random.next());
    std::vector<Code> scratch(group_of.begin(), group_of.end());
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex mutex;
    const auto work = [&] {
      try {
        for (std::size_t b = next++; b < blocks.size(); b = next++) {
          if (std::chrono::steady_clock::now() > until) continue;
          std::size_t rows = 0;
          for (const auto& group : blocks[b]) rows += group.size();
          const std::size_t share = may_leave * rows / std::max<std::size_t>(1, group_of.size());
          blocks[b] = Block(table_, std::move(blocks[b]), scratch).run(effort, share, seeds[b]);
        }
      } catch (...) {
        const std::scoped_lock lock(mutex);
        failure = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < std::min(threads, blocks.size()); ++t) others.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
    std::vector<Code> found(group_of.size(), Axis::kNone);
    Code number = 0;
    for (const RowLists& block : blocks) {
      for (const auto& group : block) {
        for (const Code row : group) found[row] = number;
        ++number;
      }
    }
    return found;
  }

 private:
  RowLists lists(std::span<const Code> group_of) const {
    if (group_of.size() != table_.rows()) throw std::invalid_argument("not one group for each row");
    RowLists groups;
    for (std::size_t row = 0; row < group_of.size(); ++row) {
      if (group_of[row] == Axis::kNone) continue;
      if (group_of[row] >= group_of.size()) throw std::invalid_argument("more groups than rows");
      if (group_of[row] >= groups.size()) groups.resize(group_of[row] + 1);
      groups[group_of[row]].push_back(static_cast<Code>(row));
    }
    for (const auto& group : groups) {
      if (group.empty()) throw std::invalid_argument("a group without rows");
    }
    return groups;
  }

  // Halves the groups again and again along an attribute chosen at random, by the places of their first rows.
  std::vector<RowLists> neighbourhoods(const RowLists& groups, Random& random) const {
    std::vector<RowLists> found;
    std::vector<std::size_t> all(groups.size());
    for (std::size_t g = 0; g < all.size(); ++g) all[g] = g;
    std::vector<std::vector<std::size_t>> waiting{std::move(all)};
    while (!waiting.empty()) {
      std::vector<std::size_t> here = std::move(waiting.back());
      waiting.pop_back();
      if (here.size() <= kGroups) {
        auto& block = found.emplace_back();
        for (const std::size_t g : here) block.push_back(groups[g]);
        continue;
      }
      const auto place = [&](std::size_t g, std::size_t a) { return table_.row(groups[g].front())[a]; };
      std::vector<std::size_t> varying;
      for (std::size_t a = 0; a < table_.width(); ++a) {
        const Code first = place(here.front(), a);
        if (std::any_of(here.begin(), here.end(), [&](std::size_t g) { return place(g, a) != first; })) {
          varying.push_back(a);
        }
      }
      const std::size_t axis = varying.empty() ? 0 : varying[random.below(varying.size())];
      std::stable_sort(here.begin(), here.end(),
                       [&](std::size_t one, std::size_t two) { return place(one, axis) < place(two, axis); });
      const auto middle = here.begin() + static_cast<std::ptrdiff_t>(here.size() / 2);
      waiting.emplace_back(middle, here.end());
      waiting.emplace_back(here.begin(), middle);
    }
    return found;
  }

  Grouped table_;
};

}  // namespace kohorte
