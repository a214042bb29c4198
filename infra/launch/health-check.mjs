// Health check of the image: exits with 0 while the process answers. Readiness is for load balancers.
const port = process.env.METRICS_PORT || process.env.PORT || '8080';
const answer = await fetch(`http://127.0.0.1:${port}/api/health`, { signal: AbortSignal.timeout(4_000) });
if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
