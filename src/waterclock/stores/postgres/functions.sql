-- What a statement cannot tell the partition of: it looks into each, and to plan that costs more than to do it. A function
-- keeps its plan; the others are planned each time, for a plan made for an empty table is ruin for a full one. So each of
-- these asks for an order that one index alone has: it is the best however full a partition is.
-- Made by step 0008 and never changed: the version before may be calling them. Another one has another name.

-- Up to so many attempts that wait for a node, those that somebody is claiming passed over; each queue and role by itself.
CREATE FUNCTION wc_attempts_to_claim(
  the_queues TEXT[], the_roles TEXT[], the_labels TEXT[], the_org BIGINT, the_now BIGINT, the_most BIGINT
) RETURNS TABLE (id BIGINT, run_at BIGINT)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT w.id, w.run_at FROM unnest(the_queues) q, unnest(the_roles) r,
    LATERAL (SELECT a.id, a.run_at, a.due_at FROM attempts a
      WHERE a.state = 'STARTING' AND a.node IS NULL AND a.queue = q AND a.role = r AND a.labels = ANY(the_labels)
        AND (a.org_id = the_org OR the_org = 0) AND a.due_at <= the_now
      ORDER BY a.due_at, a.id LIMIT the_most FOR UPDATE SKIP LOCKED) w
  ORDER BY w.due_at, w.id LIMIT the_most;
END $$;

-- When the next of them becomes due.
CREATE FUNCTION wc_next_claim(
  the_queues TEXT[], the_roles TEXT[], the_labels TEXT[], the_org BIGINT, the_moment BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN (SELECT MIN(w.due_at) FROM unnest(the_queues) q, unnest(the_roles) r,
    LATERAL (SELECT a.due_at FROM attempts a
      WHERE a.state = 'STARTING' AND a.node IS NULL AND a.queue = q AND a.role = r AND a.labels = ANY(the_labels)
        AND (a.org_id = the_org OR the_org = 0) AND a.due_at > the_moment
      ORDER BY a.due_at, a.id LIMIT 1) w);
END $$;

-- How many wait, up to so many.
CREATE FUNCTION wc_count_to_claim(
  the_queues TEXT[], the_roles TEXT[], the_labels TEXT[], the_org BIGINT, the_now BIGINT, the_most BIGINT
) RETURNS BIGINT
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN (SELECT COUNT(*) FROM (SELECT 1 FROM unnest(the_queues) q, unnest(the_roles) r,
    LATERAL (SELECT a.id FROM attempts a
      WHERE a.state = 'STARTING' AND a.node IS NULL AND a.queue = q AND a.role = r AND a.labels = ANY(the_labels)
        AND (a.org_id = the_org OR the_org = 0) AND a.due_at <= the_now
      ORDER BY a.due_at, a.id LIMIT the_most) w LIMIT the_most) found);
END $$;

-- Per job: what is live, and what of it holds a slot; no further than so many.
CREATE FUNCTION wc_live_runs(the_jobs BIGINT[], the_most BIGINT)
RETURNS TABLE (job_id BIGINT, live BIGINT, active BIGINT)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT j, COUNT(*), COUNT(*) FILTER (WHERE w.state <> 'WAITING') FROM unnest(the_jobs) j,
    LATERAL (SELECT r.state FROM runs r
      WHERE r.job_id = j AND r.state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')
      ORDER BY r.run_at, r.id LIMIT the_most) w
  GROUP BY j;
END $$;
