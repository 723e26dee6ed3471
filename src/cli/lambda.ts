// What is deployed to Lambda.
export { handler } from '../entry/aws-lambda.ts'
